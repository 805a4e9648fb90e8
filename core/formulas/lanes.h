// The values that a formula works on: a scalar (float, double, 64-bit integer) or a GCC vector of
// them.
//
// A formula is written once, as a template over V, out of arithmetic, comparisons, select and the
// functions below. Every operation acts on each lane alone and rounds once, so a lane of a vector
// holds the very bits that the scalar instantiation gives. That needs contraction off
// (-ffp-contract=off, --fmad=false): fma is used where it is written. No header is included: NVRTC
// compiles these files too, with scalars only, and generated C++ units paste them.
#pragma once

#include "core/formulas/vectors.h"

namespace fuselet::formula {

// The scalar in every lane.
template <class V>
FUSELET_FN V splat(Scalar<V> s) {
  if constexpr (kIsVector<V>)
    return s - V{};
  else
    return s;  // keeps the sign of -0
}

// A mask is what a comparison of V gives: bool for scalars, lanes of 0 or -1 for vectors.
template <class M, class V>
FUSELET_FN V select(M mask, V yes, V no) {
  return mask ? yes : no;
}
// Whether a mask of V's lanes is true in all of them.
template <class V, class M>
FUSELET_FN bool in_every_lane(M mask) {
  if constexpr (kIsVector<V>) {
    bool all = true;
    for (int i = 0; i < kLanes<V>; ++i) all &= mask[i] != 0;
    return all;
  } else {
    return mask;
  }
}
template <class M>
FUSELET_FN M mask_not(M mask) {
  if constexpr (kSame<M, bool>)
    return !mask;
  else
    return ~mask;
}

// The same bits as unsigned integers, and back.
#ifdef FUSELET_DEVICE_FORMULAS
FUSELET_FN unsigned to_bits(float x) { return __float_as_uint(x); }
FUSELET_FN unsigned long long to_bits(double x) { return (unsigned long long)__double_as_longlong(x); }
template <class V>
FUSELET_FN V from_bits(Bits<V> bits) {
  if constexpr (kIsFloat<V>)
    return __uint_as_float(bits);
  else if constexpr (kIsDouble<V>)
    return __longlong_as_double((long long)bits);
  else
    return (V)bits;
}
#else
template <class V>
FUSELET_FN Bits<V> to_bits(V x) {
  return __builtin_bit_cast(Bits<V>, x);
}
template <class V>
FUSELET_FN V from_bits(Bits<V> bits) {
  return __builtin_bit_cast(V, bits);
}
#endif

// f of every lane, one after the other: for functions that exist for scalars only.
template <class V, class F>
FUSELET_FN V map_lanes(F f, V x) {
  if constexpr (kIsVector<V>) {
    V result = x;
    for (int i = 0; i < kLanes<V>; ++i) result[i] = f(x[i]);
    return result;
  } else {
    return f((Scalar<V>)x);
  }
}
template <class V, class F>
FUSELET_FN V map_lanes(F f, V x, V y) {
  if constexpr (kIsVector<V>) {
    V result = x;
    for (int i = 0; i < kLanes<V>; ++i) result[i] = f(x[i], y[i]);
    return result;
  } else {
    return f((Scalar<V>)x, (Scalar<V>)y);
  }
}

}  // namespace fuselet::formula
