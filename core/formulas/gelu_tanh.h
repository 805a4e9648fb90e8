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
// size. Where units calculate 2^x, the argument is 2 u log2(e).
template <class V>
struct TanhArgument {
  V high, low;
};
template <class V>
FUSELET_FN TanhArgument<V> gelu_tanh_argument(V x) {
  constexpr double kA = 1.5957691216057308 * (kHasUnits<V> ? kLog2E : 1), kB = 0.044715 * kA;
  if constexpr (kIsFloat<V> && !kIsRough<V>) {
    // a to 20 bits behind the point, so that its difference from a + b x^2 < 16 is exact.
    constexpr float kAHigh = float(int(kA * 0x1p20)) * 0x1p-20f, kALow = float(kA - double(kAHigh));
    constexpr float kBHigh = float(kB), kBLow = float(kB - double(kBHigh));
    V z = x * x, z_low = fma(x, x, -z);
    V sum = fma(z, splat<V>(kBHigh), splat<V>(kAHigh));
    V sum_low = fma(z_low, splat<V>(kBHigh), fma(z, splat<V>(kBHigh), kAHigh - sum));
    sum_low = sum_low + fma(z, splat<V>(kBLow), splat<V>(kALow));
    V high = x * sum;
    return {high, fma(x, sum_low, fma(x, sum, -high))};
  } else {
    return {x * fma(x * x, splat<V>(Scalar<V>(kB)), splat<V>(Scalar<V>(kA))), splat<V>(0)};
  }
}
template <class V>
FUSELET_FN Logistic<V> logistic_of(TanhArgument<V> w) {
  if constexpr (kIsRough<V>)
    return logistic_of_exp(exp2_by_unit(-w.high));
  else if constexpr (kHasUnits<V>)
    return logistic_of_exp(exp2_by_unit(-w.high, -w.low));
  else
    return logistic_within(w.high, w.low);
}

// |x| from which the value is 0 or x; where w = -kLogisticVanishes.
template <class V>
inline constexpr Scalar<V> kGeluVanishes = kHasUnits<V>  ? Scalar<V>(10.02)
                                           : kIsFloat<V> ? Scalar<V>(11)
                                                         : Scalar<V>(22);

template <class V>
FUSELET_FN V gelu_tanh(V x) {
  V from_below = at_least(x, -kGeluVanishes<V>);
  V b = at_most(from_below, kGeluVanishes<V>);
  TanhArgument<V> w = gelu_tanh_argument(b);
  return times_logistic(from_below, w.high, logistic_of(w));
}

template <class V>
FUSELET_FN V gelu_tanh_grad(V g, V x) {
  constexpr double kA = 1.5957691216057308, kB = 0.044715 * kA;
  V b = bounded_by(x, kGeluVanishes<V>);
  TanhArgument<V> w = gelu_tanh_argument(b);
  V slope = fma(b * b, splat<V>(Scalar<V>(3 * kB)), splat<V>(Scalar<V>(kA)));
  return times_logistic_grad(g, b, w.high, slope, logistic_of(w));
}

}  // namespace fuselet::formula
