// Functions that training seldom meets: the C library's double functions, lane by lane. A float goes through the double
// function and is right to rounding but for rare near-ties.
#pragma once

#include "core/formulas/exponential.h"
#include "core/formulas/library.h"

namespace fuselet::formula {

// f of every lane in double, rounded once.
template <class V, class F>
FUSELET_FN V in_double(F f, V x) {
  return map_lanes([f](Scalar<V> lane) { return (Scalar<V>)f((double)lane); }, x);
}
template <class V, class F>
FUSELET_FN V in_double(F f, V x, V y) {
  return map_lanes([f](Scalar<V> a, Scalar<V> b) { return (Scalar<V>)f((double)a, (double)b); }, x, y);
}

template <class V>
FUSELET_FN V exp2(V x) {
  return in_double([](double lane) { return library_exp2(lane); }, x);
}
template <class V>
FUSELET_FN V log2(V x) {
  return in_double([](double lane) { return library_log2(lane); }, x);
}
template <class V>
FUSELET_FN V log10(V x) {
  return in_double([](double lane) { return library_log10(lane); }, x);
}
template <class V>
FUSELET_FN V asin(V x) {
  return in_double([](double lane) { return library_asin(lane); }, x);
}
template <class V>
FUSELET_FN V acos(V x) {
  return in_double([](double lane) { return library_acos(lane); }, x);
}
template <class V>
FUSELET_FN V atan(V x) {
  return in_double([](double lane) { return library_atan(lane); }, x);
}
template <class V>
FUSELET_FN V sinh(V x) {
  return in_double([](double lane) { return library_sinh(lane); }, x);
}
template <class V>
FUSELET_FN V cosh(V x) {
  return in_double([](double lane) { return library_cosh(lane); }, x);
}
template <class V>
FUSELET_FN V asinh(V x) {
  return in_double([](double lane) { return library_asinh(lane); }, x);
}
template <class V>
FUSELET_FN V acosh(V x) {
  return in_double([](double lane) { return library_acosh(lane); }, x);
}
template <class V>
FUSELET_FN V atanh(V x) {
  return in_double([](double lane) { return library_atanh(lane); }, x);
}
template <class V>
FUSELET_FN V erfc(V x) {
  return in_double([](double lane) { return library_erfc(lane); }, x);
}
template <class V>
FUSELET_FN V atan2(V y, V x) {
  return in_double([](double a, double b) { return library_atan2(a, b); }, y, x);
}
template <class V>
FUSELET_FN V hypot(V x, V y) {
  return in_double([](double a, double b) { return library_hypot(a, b); }, x, y);
}

// x log(y), where 0 wins over an infinite logarithm and NaN of y over 0.
template <class V>
FUSELET_FN V xlogy(V x, V y) {
  return select(y != y, y, select(x == Scalar<V>(0), splat<V>(0), x * log(y)));
}

}  // namespace fuselet::formula
