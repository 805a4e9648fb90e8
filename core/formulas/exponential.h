// exp, log and pow.
//
// float: own polynomials (coefficients and errors from tools/fit_formulas.py), at most 1 ulp over
// all inputs including subnormals. double: the C library's functions, lane by lane.
#pragma once

#include "core/formulas/arithmetic.h"
#include "core/formulas/bounds.h"
#include "core/formulas/library.h"

namespace fuselet::formula {

// e^x as significand * 2^exponent, significand in [0.7, 1.5] and exponent an integer. Formulas that multiply e^x by
// something bring the power of two in last: then a result that is a normal number is right even where e^x itself is
// subnormal. double: significand is e^x and the exponent 0.
template <class V>
struct ScaledExp {
  V significand, exponent;
};

// Adding 1.5 * 2^23 leaves the integer nearest to a float in the low bits, without a conversion that NaN would upset.
inline constexpr float kIntegerShift = 0x1.8p23f;

// e^(x + x_low) for float, with |x_low| far below 1 or left out. scaled_exp clamps x beyond [-126, 89], where e^x is
// already infinite or below 2^-181; scaled_exp_within wants it there. NaN stays.
template <class V, class... Low>
FUSELET_FN ScaledExp<V> scaled_exp_within(V x, Low... x_low) {
#ifdef FUSELET_DEVICE_UNITS
  // A device has a unit for e^x; the C library's function around it is good to 2 ulp, and a polynomial would take the
  // time of a memory access.
  if constexpr (kSame<V, float>) {
    float e = ::expf(x);
    ((e = fma(e, x_low, e)), ...);
    return {e, 0.0f};
  }
#endif
  V n = fma(x, splat<V>(0x1.715476p0f), splat<V>(kIntegerShift)) - kIntegerShift;
  V r = fma(n, splat<V>(-0x1.62e4p-1f), x);  // exact: 15 bits of ln 2 times an integer of 8
  r = (fma(n, splat<V>(-0x1.7f7d1cp-20f), r) + ... + x_low);
  // Error 2^-28.
  return {polynomial(r, 1.0f, 1.0f, 0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.1239e2p-7f, 0x1.6a2432p-10f),
          n};
}

inline constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.69314718055994531;

#ifdef FUSELET_DEVICE_UNITS
template <class V>
FUSELET_FN V reciprocal_by_unit(V x) {
  return approximate_reciprocal((float)x);
}

// 2^(x + x_low) for |x| < 127 by the unit for powers of two.
template <class V, class... Low>
FUSELET_FN V exp2_by_unit(V x, Low... x_low) {
  V e = approximate_exp2((float)x);
  ((e = fma(e, x_low * float(kLn2), e)), ...);
  return e;
}

// e^(x + x_low) for |x| < 88: x log2(e) in two floats, for the unit multiplies an error of its argument by the
// argument's size.
template <class V, class... Low>
FUSELET_FN V exp_by_unit(V x, Low... x_low) {
  constexpr float kHigh = float(kLog2E), kLow = float(kLog2E - double(kHigh));
  if constexpr (kIsRough<V>) {
    return exp2_by_unit(x * kHigh);
  } else {
    const V high = x * kHigh;
    return exp2_by_unit(high, fma(x, kHigh, -high) + (((x * kLow) + ... + (x_low * kHigh))));
  }
}
#endif

template <class V, class... Low>
FUSELET_FN ScaledExp<V> scaled_exp(V x, Low... x_low) {
  return scaled_exp_within(at_least(at_most(x, 89.0f), -126.0f), x_low...);
}

// x * 2^exponent with one rounding, for exponents of scaled_exp and x * 2^(exponent / 2) a normal number or zero.
// double: x itself.
template <class V>
FUSELET_FN V times_power_of_two(V x, V exponent) {
#ifdef FUSELET_DEVICE_UNITS
  constexpr bool kHasExponent = false;
#else
  constexpr bool kHasExponent = kIsFloat<V>;
#endif
  if constexpr (!kHasExponent) {
    return x;
  } else {
#ifdef FUSELET_AVX512_BUILTINS
    if constexpr (kSame<V, float16v>) return __builtin_ia32_scalefps512_mask(x, exponent, x, -1, kCurrentRounding);
#endif
    // In two factors, for 2^n alone reaches neither 2^128 nor below 2^-126.
    Ints<V> n = (Ints<V>)(to_bits(exponent + kIntegerShift) - 0x4b400000u);
    Ints<V> half = n >> 1;
    return x * from_bits<V>((Bits<V>)(half + 127) << 23) * from_bits<V>((Bits<V>)(n - half + 127) << 23);
  }
}

template <class V>
FUSELET_FN V exp(V x) {
#ifdef FUSELET_DEVICE_UNITS
  if constexpr (kSame<V, float>) return ::expf(x);
#endif
  if constexpr (kIsFloat<V>) {
    ScaledExp<V> e = scaled_exp(x);
    return times_power_of_two(e.significand, e.exponent);
  } else {
    return map_lanes([](double lane) { return library_exp(lane); }, x);
  }
}

// Negative numbers give NaN, zeros -inf.
template <class V>
FUSELET_FN V log(V x) {
  if constexpr (kIsFloat<V>) {
    const float kInfinity = from_bits<float>(0x7f800000u);
    auto subnormal = x < 0x1p-126f;
    V normal = select(subnormal, x * 0x1p23f, x);
    // x = (1 + f) * 2^n with 1 + f in [sqrt(1/2), sqrt(2)): around 1 there is n = 0 and f exact.
    constexpr unsigned kSqrtHalf = 0x3f3504f3u;
    Bits<V> offset = to_bits(normal) - kSqrtHalf;
    Ints<V> exponent = (Ints<V>)offset >> 23;
    V f = from_bits<V>((offset & 0x7fffffu) + kSqrtHalf) - 1.0f;
    V n = from_bits<V>((Bits<V>)(exponent + 0x4b400000)) - 0x1.8p23f;
    n = select(subnormal, n - 23.0f, n);
    // Error 2^-28.
    V tail = polynomial(f, 0x1.555548p-2f, -0x1.000006p-2f, 0x1.99a4b6p-3f, -0x1.555c4ep-3f, 0x1.233768p-3f,
                        -0x1.fc220ep-4f, 0x1.e6f062p-4f, -0x1.de3be6p-4f, 0x1.145782p-4f);
    V f2 = f * f;
    V low = fma(f2 * f, tail, n * 0x1.7f7d1cp-20f);
    low = fma(f2, splat<V>(-0.5f), low);
    V result = fma(n, splat<V>(0x1.62e4p-1f), f + low);
    result = select(x == kInfinity, x, result);
    result = select(x == 0.0f, splat<V>(-kInfinity), result);
    return select(mask_not(x >= 0.0f), splat<V>(from_bits<float>(0x7fc00000u)), result);
  } else {
    return map_lanes([](double lane) { return library_log(lane); }, x);
  }
}

// log(1 + x): the logarithm of the rounded sum, and a first-order correction for what the rounding lost.
template <class V>
FUSELET_FN V log1p(V x) {
  if constexpr (kIsFloat<V>) {
    const float kInfinity = from_bits<float>(0x7f800000u);
    V sum = x + 1.0f;
    V lost = select(x < 1.0f, x - (sum - 1.0f), 1.0f - (sum - x));
    V result = log(sum) + lost / sum;
    // At -1 and at infinity the correction is NaN; zero keeps its sign.
    result = select(x == kInfinity, x, result);
    result = select(x == -1.0f, splat<V>(-kInfinity), result);
    return select(x == 0.0f, x, result);
  } else {
    return map_lanes([](double lane) { return library_log1p(lane); }, x);
  }
}

// x to the power y, modulo 2^64 (the cast to a narrower dtype wraps on); to a negative power, what of 1 / x^-y is
// whole.
template <class Int>
FUSELET_RARE_FN Int integer_pow(Int x, Int y) {
  if (y < 0) return x == 1 ? 1 : x != -1 ? 0 : y % 2 == 0 ? 1 : -1;
  Bits<Int> result = 1, square = (Bits<Int>)x;
  for (Bits<Int> left = (Bits<Int>)y; left != 0; left >>= 1) {
    if (left & 1) result *= square;
    square *= square;
  }
  return (Int)result;
}

FUSELET_RARE_FN double double_pow(double x, double y) { return library_pow(x, y); }

// Floating: C's pow, special cases included; float goes through the double function, which is
// correctly rounded but for rare near-ties. Squares, the most common power, are one product,
// and they and first powers exact where the library's function is not.
template <class V>
FUSELET_FN V pow(V x, V y) {
  if constexpr (kIsInteger<V>)
    return map_lanes([](Scalar<V> a, Scalar<V> b) { return integer_pow(a, b); }, x, y);
  else if (in_every_lane<V>(y == Scalar<V>(2)))
    return x * x;
  else
    return map_lanes([](Scalar<V> a, Scalar<V> b) { return b == 1   ? a
                                                           : b == 2 ? a * a
                                                                    : (Scalar<V>)double_pow(a, b); },
                     x, y);
}

}  // namespace fuselet::formula
