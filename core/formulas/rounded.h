// The correctly rounded operations that an operator sign cannot write: fma and sqrt.
//
// Vectors reach the machine instruction where there is one (a loop over lanes is not reliably turned into it); elsewhere
// they go lane by lane. The bits are the same everywhere.
#pragma once

#include "lanes.h"

namespace fuselet::formula {

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

#if defined(__AVX512F__) && !defined(__clang__)
inline constexpr int kCurrentRounding = 4;
FUSELET_FN float16v fma(float16v a, float16v b, float16v c) {
  return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, kCurrentRounding);
}
FUSELET_FN double8v fma(double8v a, double8v b, double8v c) {
  return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, kCurrentRounding);
}
FUSELET_FN float16v sqrt(float16v x) { return __builtin_ia32_sqrtps512_mask(x, x, -1, kCurrentRounding); }
FUSELET_FN double8v sqrt(double8v x) { return __builtin_ia32_sqrtpd512_mask(x, x, -1, kCurrentRounding); }
#elif defined(__FMA__) && !defined(__clang__)
typedef float float8v_half __attribute__((vector_size(32)));
typedef double double4v_half __attribute__((vector_size(32)));
template <class Half>
struct Halves {
  Half low, high;
};
FUSELET_FN float16v fma(float16v a, float16v b, float16v c) {
  using Pair = Halves<float8v_half>;
  Pair x = __builtin_bit_cast(Pair, a), y = __builtin_bit_cast(Pair, b), z = __builtin_bit_cast(Pair, c);
  return __builtin_bit_cast(float16v, Pair{__builtin_ia32_vfmaddps256(x.low, y.low, z.low),
                                           __builtin_ia32_vfmaddps256(x.high, y.high, z.high)});
}
FUSELET_FN double8v fma(double8v a, double8v b, double8v c) {
  using Pair = Halves<double4v_half>;
  Pair x = __builtin_bit_cast(Pair, a), y = __builtin_bit_cast(Pair, b), z = __builtin_bit_cast(Pair, c);
  return __builtin_bit_cast(double8v, Pair{__builtin_ia32_vfmaddpd256(x.low, y.low, z.low),
                                           __builtin_ia32_vfmaddpd256(x.high, y.high, z.high)});
}
FUSELET_FN float16v sqrt(float16v x) {
  using Pair = Halves<float8v_half>;
  Pair p = __builtin_bit_cast(Pair, x);
  return __builtin_bit_cast(float16v, Pair{__builtin_ia32_sqrtps256(p.low), __builtin_ia32_sqrtps256(p.high)});
}
FUSELET_FN double8v sqrt(double8v x) {
  using Pair = Halves<double4v_half>;
  Pair p = __builtin_bit_cast(Pair, x);
  return __builtin_bit_cast(double8v, Pair{__builtin_ia32_sqrtpd256(p.low), __builtin_ia32_sqrtpd256(p.high)});
}
#else
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
#endif
#endif

// The polynomial c0 + c1 x + c2 x^2 + …, by Horner's rule with fma.
template <class V>
FUSELET_FN V polynomial(V, Scalar<V> c0) {
  return splat<V>(c0);
}
template <class V, class... More>
FUSELET_FN V polynomial(V x, Scalar<V> c0, More... more) {
  return fma(x, polynomial(x, more...), splat<V>(c0));
}

}  // namespace fuselet::formula
