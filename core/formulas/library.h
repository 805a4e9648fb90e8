// The C library's functions of doubles under one name on host and device. They are the double
// formulas, lane by lane.
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

#undef FUSELET_LIBRARY

}  // namespace fuselet::formula
