// gelu by the tanh approximation, and its gradient.
//
// float: at most 5 ulp of the exact value of that approximation, tails included (where x goes to
// -inf the value is -0). The gradient crosses zero and is good to 5 ulp of its larger term. double:
// the same formula on the C library's exp.
#pragma once

#include "core/formulas/logistic.h"

namespace fuselet::formula {

// 0.5 * (1 + tanh(u)) = sigmoid(2 u) with 2 u = x * (a + b * x^2), a = 2 sqrt(2 / pi), b = 0.044715
// a. In float, 2 u is carried as a sum of two floats: the tail multiplies an error of it by its
// size.
template <class V>
struct TanhArgument {
  V high, low;
};
template <class V>
FUSELET_FN TanhArgument<V> gelu_tanh_argument(V x) {
  constexpr double kA = 1.5957691216057308, kB = 0.044715 * kA;
  if constexpr (kIsFloat<V> && !kIsRough<V>) {
    constexpr float kAHigh = float(kA), kALow = float(kA - double(kAHigh));
    constexpr float kBHigh = float(kB), kBLow = float(kB - double(kBHigh));
    V z = x * x, z_low = fma(x, x, -z);
    V bz = z * kBHigh, bz_low = fma(z, splat<V>(kBHigh), -bz) + fma(z, splat<V>(kBLow), z_low * kBHigh);
    V sum = bz + kAHigh, part = sum - bz;
    V sum_low = (bz - (sum - part)) + (kAHigh - part) + (bz_low + kALow);
    V high = x * sum;
    return {high, fma(x, sum, -high) + x * sum_low};
  } else {
    return {x * fma(x * x, splat<V>(Scalar<V>(kB)), splat<V>(Scalar<V>(kA))), splat<V>(0)};
  }
}
template <class V>
FUSELET_FN Logistic<V> logistic_of(TanhArgument<V> w) {
  if constexpr (kIsRough<V>)
    return logistic(w.high);
  else
    return logistic(w.high, w.low);
}

template <class V>
FUSELET_FN V gelu_tanh(V x) {
  V b = bounded_by(x, Scalar<V>(kIsFloat<V> ? 11 : 22));  // beyond, the value is 0 or x
  TanhArgument<V> w = gelu_tanh_argument(b);
  V value = times_logistic(b, w.high, logistic_of(w));
  return select(x > b, x, value);
}

template <class V>
FUSELET_FN V gelu_tanh_grad(V g, V x) {
  constexpr double kA = 1.5957691216057308, kB = 0.044715 * kA;
  V b = bounded_by(x, Scalar<V>(kIsFloat<V> ? 11 : 22));
  TanhArgument<V> w = gelu_tanh_argument(b);
  V slope = fma(b * b, splat<V>(Scalar<V>(3 * kB)), splat<V>(Scalar<V>(kA)));
  return times_logistic_grad(g, b, w.high, slope, logistic_of(w));
}

}  // namespace fuselet::formula
