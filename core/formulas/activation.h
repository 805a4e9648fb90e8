// tanh, erf and the activation functions with their gradients.
//
// Accuracy in float over all inputs: tanh, erf at most 2 ulp; sigmoid 3, silu and gelu 5 ulp, tails included (where x
// goes to -inf the value is -0). A gradient that crosses zero is good to 5 ulp of its larger term. double follows
// the same formulas on the C library's exp, erf and erfc, except that tanh, erf are the library's own.
#pragma once

#include "exponential.h"

namespace fuselet::formula {

template <class V>
FUSELET_FN V tanh(V x) {
  if constexpr (kIsFloat<V>) {
    V magnitude = abs(x);
    V z = x * x;
    // |x| <= 0.625, error 2^-26.8.
    V small = fma(x * z, polynomial(z, -0x1.555532p-2f, 0x1.110726p-3f, -0x1.b83c5ap-5f, 0x1.5226a2p-6f, -0x1.75e1e8p-8f), x);
    V large = 1.0f - 2.0f / (exp(magnitude + magnitude) + 1.0f);
    // The sign on top of everything, for `small` loses that of -0.
    return with_sign_of(select(magnitude <= 0.625f, small, large), x);
  } else {
    return map_lanes([](double lane) { return library_tanh(lane); }, x);
  }
}

template <class V>
FUSELET_FN V erf(V x) {
  if constexpr (kIsFloat<V>) {
    V magnitude = abs(x);
    V z = x * x;
    // |x| <= 0.921875, error 2^-25.
    V small = fma(x, polynomial(z, 0x1.06eba6p-3f, -0x1.8126e6p-2f, 0x1.ce1a6ap-4f, -0x1.b68b54p-6f, 0x1.473baap-8f,
                                -0x1.3a17e6p-11f), x);
    // log(erfc(|x|)) up to 4, where erf rounds to 1; error 2^-27 of erf.
    V bounded = select(magnitude > 4.0f, splat<V>(4.0f), magnitude);
    V log_erfc = polynomial(bounded, 0x1.6f64d2p-13f, -0x1.21280cp+0f, -0x1.444568p-1f, -0x1.bb898ap-4f, 0x1.9b9d1ap-6f,
                            -0x1.1170fcp-8f, 0x1.c7da54p-12f, -0x1.624fcap-16f);
    V large = 1.0f - exp(log_erfc);
    return select(magnitude <= 0.921875f, small, with_sign_of(large, x));
  } else {
    return map_lanes([](double lane) { return library_erf(lane); }, x);
  }
}

// x within [-limit, limit], NaN kept.
template <class V>
FUSELET_FN V bounded_by(V x, Scalar<V> limit) {
  x = select(x > limit, splat<V>(limit), x);
  return select(x < -limit, splat<V>(-limit), x);
}

// 1 / (1 + e^-w) in pieces that keep both tails: e = e^-|w|, and `near` = 1 / (1 + e) is the value on the side of w.
// w_low is a correction to w, float only.
template <class V>
struct Logistic {
  V e, near;
  ScaledExp<V> scaled;  // e before scaling
};

template <class V>
FUSELET_FN Logistic<V> logistic(V w, V w_low) {
  Logistic<V> result;
  if constexpr (kIsFloat<V>) {
    result.scaled = scaled_exp(-abs(w), select(w < 0.0f, w_low, -w_low));
    result.e = result.scaled.significand * result.scaled.scale1 * result.scaled.scale2;
  } else {
    V one = splat<V>(1.0);
    result.e = exp(-abs(w));
    result.scaled = {result.e, one, one};
  }
  result.near = Scalar<V>(1) / (Scalar<V>(1) + result.e);
  return result;
}

// x * sigmoid(w) for x of the sign of w.
template <class V>
FUSELET_FN V times_logistic(V x, V w, Logistic<V> s) {
  V below = x * s.scaled.significand * s.near * s.scaled.scale1 * s.scaled.scale2;
  return select(w < Scalar<V>(0), below, x * s.near);
}

template <class V>
FUSELET_FN V sigmoid(V x) {
  Logistic<V> s = logistic(x, splat<V>(0));
  return select(x < Scalar<V>(0), s.e, splat<V>(1)) / (Scalar<V>(1) + s.e);
}

// x below which x * e^x is zero, so that clamping there keeps inf * 0 away.
template <class V>
inline constexpr Scalar<V> kExpVanishes = kIsFloat<V> ? Scalar<V>(126) : Scalar<V>(800);

template <class V>
FUSELET_FN V silu(V x) {
  V from_below = select(x < -kExpVanishes<V>, splat<V>(-kExpVanishes<V>), x);
  return times_logistic(from_below, x, logistic(from_below, splat<V>(0)));
}

template <class V>
FUSELET_FN V sigmoid_grad(V g, V y) {
  return g * (y * (Scalar<V>(1) - y));
}

template <class V>
FUSELET_FN V tanh_grad(V g, V y) {
  return g * fma(-y, y, splat<V>(1));
}

// g * s * (1 + x * (1 - s) * slope), s = sigmoid(w): the derivative of x * sigmoid(w(x)) where slope is w'(x).
template <class V>
FUSELET_FN V times_logistic_grad(V g, V x, V w, V slope, Logistic<V> s) {
  auto below = w < Scalar<V>(0);
  V complement = s.near * select(below, splat<V>(1), s.e);
  V factor = fma(x * complement, slope, splat<V>(1));
  V value = s.scaled.significand * s.near * factor * s.scaled.scale1 * s.scaled.scale2;
  return g * select(below, value, s.near * factor);
}

template <class V>
FUSELET_FN V silu_grad(V g, V x) {
  V b = bounded_by(x, kExpVanishes<V>);
  return times_logistic_grad(g, b, b, splat<V>(1), logistic(b, splat<V>(0)));
}

// 0.5 * (1 + tanh(u)) = sigmoid(2 u) with 2 u = x * (a + b * x^2), a = 2 sqrt(2 / pi), b = 0.044715 a. In float, 2 u is
// carried as a sum of two floats: the tail multiplies an error of it by its size.
template <class V>
struct TanhArgument {
  V high, low;
};
template <class V>
FUSELET_FN TanhArgument<V> gelu_tanh_argument(V x) {
  constexpr double kA = 1.5957691216057308, kB = 0.044715 * kA;
  if constexpr (kIsFloat<V>) {
    constexpr float kAHigh = float(kA), kALow = float(kA - double(kAHigh));
    constexpr float kBHigh = float(kB), kBLow = float(kB - double(kBHigh));
    V z = x * x, z_low = fma(x, x, -z);
    V bz = z * kBHigh, bz_low = fma(z, splat<V>(kBHigh), -bz) + fma(z, splat<V>(kBLow), z_low * kBHigh);
    V sum = bz + kAHigh, part = sum - bz;
    V sum_low = (bz - (sum - part)) + (kAHigh - part) + (bz_low + kALow);
    V high = x * sum;
    return {high, fma(x, sum, -high) + x * sum_low};
  } else {
    return {x * fma(x * x, splat<V>(kB), splat<V>(kA)), splat<V>(0)};
  }
}

template <class V>
FUSELET_FN V gelu_tanh(V x) {
  V b = bounded_by(x, Scalar<V>(kIsFloat<V> ? 11 : 22));  // beyond, the value is 0 or x
  TanhArgument<V> w = gelu_tanh_argument(b);
  V value = times_logistic(b, w.high, logistic(w.high, w.low));
  return select(x > b, x, value);
}

template <class V>
FUSELET_FN V gelu_tanh_grad(V g, V x) {
  constexpr double kA = 1.5957691216057308, kB = 0.044715 * kA;
  V b = bounded_by(x, Scalar<V>(kIsFloat<V> ? 11 : 22));
  TanhArgument<V> w = gelu_tanh_argument(b);
  V slope = fma(b * b, splat<V>(Scalar<V>(3 * kB)), splat<V>(Scalar<V>(kA)));
  return times_logistic_grad(g, b, w.high, slope, logistic(w.high, w.low));
}

// Phi(x), the normal distribution function, in pieces: Phi(-|x|) = tail * density with density = exp(-x^2 / 2), and, in
// float, center = Phi(x) itself where |x| <= 1. |x| <= 15 in float; in double 38.5,
// where the density is still above zero.
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
    V center = fma(x, polynomial(z, 0x1.988454p-2f, -0x1.105826p-4f, 0x1.46cc3ep-7f, -0x1.36d8b0p-10f, 0x1.d9c180p-14f,
                                 -0x1.f4d3bap-18f), splat<V>(0.5f));
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
