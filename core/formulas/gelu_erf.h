// gelu, x * Phi(x) with the normal distribution function Phi, and its derivative.
//
// float: at most 5 ulp, tails included (where x goes to -inf the value is -0). The derivative crosses zero and is good
// to 5 ulp of its larger term. double: on the C library's erfc and exp. Both start with the same tail, which the
// compiler works out once for a loop that has both.
#pragma once

#include "core/formulas/logistic.h"

namespace fuselet::formula {

// Phi(-|x|) = tail * density with density = exp(-x^2 / 2). magnitude is |x|, at most 15 in float, beyond which gelu is
// 0 or x; in double 38.5, where the density is still above zero.
template <class V>
struct NormalTail {
  V magnitude, tail;
  ScaledExp<V> density;
};

template <class V>
FUSELET_FN NormalTail<V> normal_tail(V x) {
  if constexpr (kIsFloat<V>) {
    V magnitude = at_most(abs(x), 15.0f);
    V half = magnitude * 0.5f;
    V square = magnitude * half;
    if constexpr (kIsRough<V>) {
      // (|x| + 2) * tail, error 2^-11.9.
      V r = ratio(splat<V>(1.0f), magnitude + 2.0f);
      V p = polynomial((magnitude - 2.0f) * r, 0x1.58475cp-1f, -0x1.525702p-2f, 0x1.cf512cp-6f, 0x1.000aeap-5f);
      return {magnitude, p * r, scaled_exp_within(-square)};
    }
    ScaledExp<V> density = scaled_exp_within(-square, -fma(magnitude, half, -square));
    // (|x| + 2) * tail, error 2^-24.5.
    V r = ratio(splat<V>(1.0f), magnitude + 2.0f);
    V p = polynomial((magnitude - 2.0f) * r, 0x1.5845dcp-1f, -0x1.535bb8p-2f, 0x1.d7d548p-6f, 0x1.2cd370p-5f,
                     -0x1.fab66cp-12f, -0x1.ba9b84p-8f, -0x1.efc448p-10f, 0x1.d239a2p-11f, 0x1.7d0da8p-11f,
                     0x1.bf773cp-16f, -0x1.4c19a8p-14f);
    return {magnitude, p * r, density};
  } else {
    V magnitude = at_most(abs(x), 38.5);
    V far = 0.5 * map_lanes([](double lane) { return library_erfc(lane); }, magnitude * 0.70710678118654752440);
    V density = exp(-0.5 * magnitude * magnitude);
    return {magnitude, far / density, {density, V{}}};
  }
}

// x * Phi(x) = max(x, 0) - |x| * Phi(-|x|), with -0 for the maximum of what lies below zero.
template <class V>
FUSELET_FN V gelu_erf(V x) {
  NormalTail<V> n = normal_tail(x);
  V lost = times_power_of_two(n.magnitude * n.tail * n.density.significand, n.density.exponent);
  return select(x < Scalar<V>(0), splat<V>(-Scalar<V>(0)), x) - lost;
}

// Phi(x) + x * phi(x), phi the density over sqrt(2 pi).
template <class V>
FUSELET_FN V gelu_erf_slope(V x) {
  constexpr Scalar<V> kPhi0 = Scalar<V>(0.39894228040143267794);
  NormalTail<V> n = normal_tail(x);
  // At -|x|; at |x| it is as far from 1.
  V far = times_power_of_two(fma(-n.magnitude, splat<V>(kPhi0), n.tail) * n.density.significand, n.density.exponent);
  return select(x < Scalar<V>(0), far, Scalar<V>(1) - far);
}

}  // namespace fuselet::formula
