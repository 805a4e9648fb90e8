// gelu, x * Phi(x) with the normal distribution function Phi, and its gradient.
//
// float: at most 5 ulp, tails included (where x goes to -inf the value is -0). The gradient crosses
// zero and is good to 5 ulp of its larger term. double: on the C library's erfc and exp.
#pragma once

#include "core/formulas/logistic.h"

namespace fuselet::formula {

// Phi(x), the normal distribution function, in pieces: Phi(-|x|) = tail * density with density =
// exp(-x^2 / 2), and, in float, center = Phi(x) itself where |x| <= 1. |x| <= 15 in float; in
// double 38.5, where the density is still above zero.
template <class V>
struct Normal {
  V tail, center;
  ScaledExp<V> density;
};

template <class V>
FUSELET_FN Normal<V> normal(V x) {
  V magnitude = abs(x);
  if constexpr (kIsFloat<V>) {
    V half = magnitude * 0.5f;
    V square = magnitude * half;
    ScaledExp<V> density = scaled_exp(-square, -fma(magnitude, half, -square));
    V z = x * x;
    // |x| <= 1, error 2^-23.5 of Phi(-|x|).
    V center = fma(x,
                   polynomial(z, 0x1.988454p-2f, -0x1.105826p-4f, 0x1.46cc3ep-7f, -0x1.36d8b0p-10f, 0x1.d9c180p-14f,
                              -0x1.f4d3bap-18f),
                   splat<V>(0.5f));
    // (|x| + 2) * tail for |x| >= 1, error 2^-23.9.
    V r = 1.0f / (magnitude + 2.0f);
    V p = polynomial((magnitude - 2.0f) * r, 0x1.5845dep-1f, -0x1.535bb2p-2f, 0x1.d7bf30p-6f, 0x1.2cd928p-5f,
                     -0x1.960ab4p-12f, -0x1.c493acp-8f, -0x1.2c74ecp-9f, 0x1.06fa7ap-9f);
    return {p * r, center, density};
  } else {
    V one = splat<V>(1.0);
    V far = 0.5 * map_lanes([](double lane) { return library_erfc(lane); }, magnitude * 0.70710678118654752440);
    V density = exp(-0.5 * magnitude * magnitude);
    return {far / density, select(x < 0.0, far, 1.0 - far), {density, one, one}};
  }
}

template <class V>
inline constexpr Scalar<V> kNormalVanishes = kIsFloat<V> ? Scalar<V>(15) : Scalar<V>(38.5);

// x * Phi(x).
template <class V>
FUSELET_FN V gelu_erf(V x) {
  V b = bounded_by(x, kNormalVanishes<V>);  // beyond, the value is 0 or x
  Normal<V> n = normal(b);
  V below = b * n.tail * n.density.significand * n.density.scale1 * n.density.scale2;
  V above = x * (Scalar<V>(1) - n.tail * (n.density.significand * n.density.scale1 * n.density.scale2));
  V outer = select(b < Scalar<V>(0), below, above);
  return select(abs(b) <= Scalar<V>(1), b * n.center, outer);
}

// g * (Phi(x) + x * phi(x)), phi the density over sqrt(2 pi).
template <class V>
FUSELET_FN V gelu_erf_grad(V g, V x) {
  constexpr Scalar<V> kPhi0 = Scalar<V>(0.39894228040143267794);
  V b = bounded_by(x, kNormalVanishes<V>);
  Normal<V> n = normal(b);
  V slope = b * kPhi0;
  // At -|x| and |x| > 1: what the derivative is there, and how far it is from 1 at |x|.
  V far = (n.tail - abs(slope)) * n.density.significand * n.density.scale1 * n.density.scale2;
  V outer = select(b < Scalar<V>(0), far, Scalar<V>(1) - far);
  V inner = fma(slope, n.density.significand * n.density.scale1 * n.density.scale2, n.center);
  return g * select(abs(b) <= Scalar<V>(1), inner, outer);
}

}  // namespace fuselet::formula
