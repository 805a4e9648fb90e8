// sigmoid, silu (x * sigmoid(x)) and their gradients.
//
// float: sigmoid at most 3 ulp, silu 5, tails included (where x goes to -inf, silu is -0). The
// gradient of silu crosses zero and is good to 5 ulp of its larger term. double: the same formulas
// on the C library's exp.
#pragma once

#include "core/formulas/exponential.h"

namespace fuselet::formula {

// 1 / (1 + e^-w) in pieces that keep both tails: e = e^-|w|, and `near` = 1 / (1 + e) is the value
// on the side of w. w_low is a correction to w, float only, or left out.
template <class V>
struct Logistic {
  V e, near;
  ScaledExp<V> scaled;  // e before scaling
};

template <class V, class... Low>
FUSELET_FN Logistic<V> logistic(V w, Low... w_low) {
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

// x * sigmoid(w) for x of the sign of w.
template <class V>
FUSELET_FN V times_logistic(V x, V w, Logistic<V> s) {
  V below = times_power_of_two(x * s.scaled.significand * s.near, s.scaled.exponent);
  return select(w < Scalar<V>(0), below, x * s.near);
}

template <class V>
FUSELET_FN V sigmoid(V x) {
  Logistic<V> s = logistic(x);
  return ratio(select(x < Scalar<V>(0), s.e, splat<V>(1)), Scalar<V>(1) + s.e);
}

// x below which x * e^x is zero, so that clamping there keeps inf * 0 away.
template <class V>
inline constexpr Scalar<V> kExpVanishes = kIsFloat<V> ? Scalar<V>(126) : Scalar<V>(800);

template <class V>
FUSELET_FN V silu(V x) {
  V from_below = at_least(x, -kExpVanishes<V>);
  return times_logistic(from_below, x, logistic(from_below));
}

// g * s * (1 + x * (1 - s) * slope), s = sigmoid(w): the derivative of x * sigmoid(w(x)) where
// slope is w'(x).
template <class V>
FUSELET_FN V times_logistic_grad(V g, V x, V w, V slope, Logistic<V> s) {
  auto below = w < Scalar<V>(0);
  V complement = s.near * select(below, splat<V>(1), s.e);
  V factor = fma(x * complement, slope, splat<V>(1));
  V value = times_power_of_two(s.scaled.significand * s.near * factor, s.scaled.exponent);
  return g * select(below, value, s.near * factor);
}

template <class V>
FUSELET_FN V silu_grad(V g, V x) {
  V b = bounded_by(x, kExpVanishes<V>);
  return times_logistic_grad(g, b, b, splat<V>(1), logistic(b));
}

}  // namespace fuselet::formula
