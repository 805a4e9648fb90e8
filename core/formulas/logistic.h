// sigmoid, silu (x * sigmoid(x)) and their gradients.
//
// float: sigmoid at most 3 ulp, silu 5, tails included (where x goes to -inf, silu is -0). The
// gradient of silu crosses zero and is good to 5 ulp of its larger term. double: the same formulas
// on the C library's exp. On a device's units: 5 ulp, and 0 below 2^-126.
#pragma once

#include "core/formulas/exponential.h"

namespace fuselet::formula {

// w below which x * sigmoid(w) is zero, so that clamping there keeps inf * 0 away. On a device's units e^-w is then
// still finite, and its reciprocal 0.
template <class V>
inline constexpr Scalar<V> kLogisticVanishes = kHasUnits<V>  ? Scalar<V>(87.8)
                                               : kIsFloat<V> ? Scalar<V>(126)
                                                             : Scalar<V>(800);

// The pieces of sigmoid(w) = 1 / (1 + e^-w).
//
// `scaled` is e^-|w| before scaling, e is that scaled, and `near` = 1 / (1 + e) is the value on the side of w: so both
// tails are kept. With a device's units, whose reciprocal keeps them by itself: e = e^-w, near = sigmoid(w).
template <class V>
struct Logistic {
  V e, near;
  ScaledExp<V> scaled;
};

// By units, from e = e^-w.
template <class V>
FUSELET_FN Logistic<V> logistic_of_exp(V e) {
  return {e, reciprocal_by_unit(splat<V>(1.0f) + e), {}};
}

// w_low is a correction to w, float only, or left out. On a device's units |w| is at most kLogisticVanishes.
template <class V, class... Low>
FUSELET_FN Logistic<V> logistic_within(V w, Low... w_low) {
  if constexpr (kHasUnits<V>) return logistic_of_exp(exp_by_unit(-w, (-w_low)...));
  Logistic<V> result;
  if constexpr (kIsFloat<V>) {
    result.scaled = scaled_exp(-abs(w), select(w < 0.0f, w_low, -w_low)...);
    result.e = times_power_of_two(result.scaled.significand, result.scaled.exponent);
  } else {
    result.e = exp(-abs(w));
    result.scaled = {result.e, V{}};
  }
  result.near = ratio(splat<V>(1), Scalar<V>(1) + result.e);
  return result;
}

// For any w.
template <class V>
FUSELET_FN Logistic<V> logistic(V w) {
  if constexpr (kHasUnits<V> && !kIsRough<V>)
    return logistic_within(bounded_by(w, kLogisticVanishes<V>));
  else
    return logistic_within(w);
}

// x * sigmoid(w) for x of the sign of w.
template <class V>
FUSELET_FN V times_logistic(V x, V w, Logistic<V> s) {
  if constexpr (kHasUnits<V>) return x * s.near;
  V below = times_power_of_two(x * s.scaled.significand * s.near, s.scaled.exponent);
  return select(w < Scalar<V>(0), below, x * s.near);
}

template <class V>
FUSELET_FN V sigmoid(V x) {
  Logistic<V> s = logistic(x);
  if constexpr (kHasUnits<V>) return s.near;
  return ratio(select(x < Scalar<V>(0), s.e, splat<V>(1)), Scalar<V>(1) + s.e);
}

template <class V>
FUSELET_FN V silu(V x) {
  V from_below = at_least(x, -kLogisticVanishes<V>);
  return times_logistic(from_below, x, logistic(from_below));
}

// g * s * (1 + x * (1 - s) * slope), s = sigmoid(w): the derivative of x * sigmoid(w(x)) where
// slope is w'(x).
template <class V>
FUSELET_FN V times_logistic_grad(V g, V x, V w, V slope, Logistic<V> s) {
  auto below = w < Scalar<V>(0);
  if constexpr (kHasUnits<V>) {
    V complement = select(below, splat<V>(1.0f) - s.near, s.near * s.e);
    return g * (s.near * fma(x * complement, slope, splat<V>(1.0f)));
  }
  V complement = s.near * select(below, splat<V>(1), s.e);
  V factor = fma(x * complement, slope, splat<V>(1));
  V value = times_power_of_two(s.scaled.significand * s.near * factor, s.scaled.exponent);
  return g * select(below, value, s.near * factor);
}

template <class V>
FUSELET_FN V silu_grad(V g, V x) {
  V b = bounded_by(x, kLogisticVanishes<V>);
  return times_logistic_grad(g, b, b, splat<V>(1), logistic(b));
}

}  // namespace fuselet::formula
