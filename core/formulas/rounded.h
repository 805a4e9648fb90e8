// The correctly rounded operations that an operator sign cannot write: fma and sqrt; and Horner's
// rule on fma.
//
// Vectors reach the machine instruction where there is one (a loop over lanes is not reliably
// turned into it); elsewhere they go lane by lane. The bits are the same everywhere.
#pragma once

#include "core/formulas/lanes.h"

namespace fuselet::formula {

// What a device has units for. Not where the host stands in for one. Reciprocals (1 ulp) and powers of two (2 ulp)
// below 2^-126 are 0. at_most_or_nan and at_least_or_nan are NaN where an operand is, and -0 lies below +0.
#if defined(FUSELET_DEVICE_FORMULAS) && !defined(FUSELET_HOST_STAND_IN)
#define FUSELET_DEVICE_UNITS 1
#ifdef FUSELET_SIM
FUSELET_FN float without_subnormals(float x) { return x < 0x1p-126f && x > -0x1p-126f ? x * 0.0f : x; }
FUSELET_FN float approximate_reciprocal(float x) { return without_subnormals(1.0f / x); }
FUSELET_FN float approximate_exp2(float x) { return without_subnormals(exp2f(x)); }
FUSELET_FN float at_most_or_nan(float x, float y) {
  if (x == y) return from_bits<float>(to_bits(x) | to_bits(y));
  return x < y || x != x ? x : y;
}
FUSELET_FN float at_least_or_nan(float x, float y) {
  if (x == y) return from_bits<float>(to_bits(x) & to_bits(y));
  return x > y || x != x ? x : y;
}
#else
FUSELET_FN float approximate_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
FUSELET_FN float approximate_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
FUSELET_FN float at_most_or_nan(float x, float y) {
  float z;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
FUSELET_FN float at_least_or_nan(float x, float y) {
  float z;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
#endif
#endif

// True for a V whose e^x and 1 / x come from such units.
#ifdef FUSELET_DEVICE_UNITS
template <class V>
inline constexpr bool kHasUnits = kIsFloat<V>;
#else
template <class V>
inline constexpr bool kHasUnits = false;
#endif

#ifdef FUSELET_DEVICE_FORMULAS
FUSELET_FN float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
FUSELET_FN double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
FUSELET_FN float sqrt(float x) { return __fsqrt_rn(x); }
FUSELET_FN double sqrt(double x) { return __dsqrt_rn(x); }
#else
FUSELET_FN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FUSELET_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
FUSELET_FN float sqrt(float x) { return __builtin_sqrtf(x); }
FUSELET_FN double sqrt(double x) { return __builtin_sqrt(x); }

template <class V>
FUSELET_FN V fma(V a, V b, V c) {
  for (int i = 0; i < kLanes<V>; ++i) a[i] = fma(a[i], b[i], c[i]);
  return a;
}
template <class V>
FUSELET_FN V sqrt(V x) {
  for (int i = 0; i < kLanes<V>; ++i) x[i] = sqrt(x[i]);
  return x;
}

#ifndef __clang__  // whose names for these builtins differ
#ifdef __AVX512F__
#define FUSELET_AVX512_BUILTINS 1
inline constexpr int kCurrentRounding = 4;
FUSELET_FN float16v fma(float16v a, float16v b, float16v c) {
  return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, kCurrentRounding);
}
FUSELET_FN double8v fma(double8v a, double8v b, double8v c) {
  return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, kCurrentRounding);
}
FUSELET_FN float16v sqrt(float16v x) { return __builtin_ia32_sqrtps512_mask(x, x, -1, kCurrentRounding); }
FUSELET_FN double8v sqrt(double8v x) { return __builtin_ia32_sqrtpd512_mask(x, x, -1, kCurrentRounding); }
#endif
#ifdef __FMA__
FUSELET_FN float8v fma(float8v a, float8v b, float8v c) { return __builtin_ia32_vfmaddps256(a, b, c); }
FUSELET_FN double4v fma(double4v a, double4v b, double4v c) { return __builtin_ia32_vfmaddpd256(a, b, c); }
#endif
#ifdef __AVX__
FUSELET_FN float8v sqrt(float8v x) { return __builtin_ia32_sqrtps256(x); }
FUSELET_FN double4v sqrt(double4v x) { return __builtin_ia32_sqrtpd256(x); }
#endif
#ifdef __SSE2__
FUSELET_FN float4v sqrt(float4v x) { return __builtin_ia32_sqrtps(x); }
FUSELET_FN double2v sqrt(double2v x) { return __builtin_ia32_sqrtpd(x); }
#endif
#endif
#endif

// x / y for y from 2^-60 to 2^60 and x of that size or 0: correctly rounded, on a device at most 1 ulp off.
template <class V>
FUSELET_FN V ratio(V x, V y) {
#ifdef FUSELET_DEVICE_UNITS
  if constexpr (kSame<V, float>) {
    const float reciprocal = approximate_reciprocal(y), quotient = x * reciprocal;
    return fma(fma(-y, quotient, x), reciprocal, quotient);
  }
#endif
  return x / y;
}

// The polynomial c0 + c1 x + c2 x^2 + …
template <class V>
FUSELET_FN V polynomial(V, Scalar<V> c0) {
  return splat<V>(c0);
}
template <class V, class... More>
FUSELET_FN V polynomial(V x, Scalar<V> c0, More... more) {
  return fma(x, polynomial(x, more...), splat<V>(c0));
}

}  // namespace fuselet::formula
