// The C library's functions of doubles under one name on host and device: the double formulas, lane by lane. fmod,
// which is exact, has a float form too.
#pragma once

#include "core/formulas/lanes.h"

namespace fuselet::formula {

#ifdef FUSELET_DEVICE_FORMULAS
#define FUSELET_LIBRARY(name) ::name
#else
#define FUSELET_LIBRARY(name) __builtin_##name
#endif

FUSELET_FN double library_exp(double x) { return FUSELET_LIBRARY(exp)(x); }
FUSELET_FN double library_log(double x) { return FUSELET_LIBRARY(log)(x); }
FUSELET_FN double library_log1p(double x) { return FUSELET_LIBRARY(log1p)(x); }
FUSELET_FN double library_pow(double x, double y) { return FUSELET_LIBRARY(pow)(x, y); }
FUSELET_FN double library_tanh(double x) { return FUSELET_LIBRARY(tanh)(x); }
FUSELET_FN double library_erf(double x) { return FUSELET_LIBRARY(erf)(x); }
FUSELET_FN double library_erfc(double x) { return FUSELET_LIBRARY(erfc)(x); }
FUSELET_FN double library_sin(double x) { return FUSELET_LIBRARY(sin)(x); }
FUSELET_FN double library_cos(double x) { return FUSELET_LIBRARY(cos)(x); }
FUSELET_FN double library_exp2(double x) { return FUSELET_LIBRARY(exp2)(x); }
FUSELET_FN double library_log2(double x) { return FUSELET_LIBRARY(log2)(x); }
FUSELET_FN double library_log10(double x) { return FUSELET_LIBRARY(log10)(x); }
FUSELET_FN double library_asin(double x) { return FUSELET_LIBRARY(asin)(x); }
FUSELET_FN double library_acos(double x) { return FUSELET_LIBRARY(acos)(x); }
FUSELET_FN double library_atan(double x) { return FUSELET_LIBRARY(atan)(x); }
FUSELET_FN double library_sinh(double x) { return FUSELET_LIBRARY(sinh)(x); }
FUSELET_FN double library_cosh(double x) { return FUSELET_LIBRARY(cosh)(x); }
FUSELET_FN double library_asinh(double x) { return FUSELET_LIBRARY(asinh)(x); }
FUSELET_FN double library_acosh(double x) { return FUSELET_LIBRARY(acosh)(x); }
FUSELET_FN double library_atanh(double x) { return FUSELET_LIBRARY(atanh)(x); }
FUSELET_FN double library_atan2(double x, double y) { return FUSELET_LIBRARY(atan2)(x, y); }
FUSELET_FN double library_hypot(double x, double y) { return FUSELET_LIBRARY(hypot)(x, y); }
FUSELET_FN double library_fmod(double x, double y) { return FUSELET_LIBRARY(fmod)(x, y); }
FUSELET_FN float library_fmod(float x, float y) { return FUSELET_LIBRARY(fmodf)(x, y); }

#undef FUSELET_LIBRARY

}  // namespace fuselet::formula
