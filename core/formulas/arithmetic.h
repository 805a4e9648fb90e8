// Arithmetic, rounding to integers, and order.
//
// Integers wrap around (the work is done on unsigned lanes). maximum and minimum pass NaN on from
// either operand and order -0 below +0, so the operands may swap.
#pragma once

#include "core/formulas/rounded.h"

namespace fuselet::formula {

template <class V>
FUSELET_FN V add(V x, V y) {
  if constexpr (kIsInteger<V>)
    return (V)((Bits<V>)x + (Bits<V>)y);
  else
    return x + y;
}

template <class V>
FUSELET_FN V sub(V x, V y) {
  if constexpr (kIsInteger<V>)
    return (V)((Bits<V>)x - (Bits<V>)y);
  else
    return x - y;
}

template <class V>
FUSELET_FN V mul(V x, V y) {
  if constexpr (kIsInteger<V>)
    return (V)((Bits<V>)x * (Bits<V>)y);
  else
    return x * y;
}

// Floating point only.
template <class V>
FUSELET_FN V div(V x, V y) {
  return x / y;
}

template <class V>
FUSELET_FN V neg(V x) {
  if constexpr (kIsInteger<V>)
    return (V)(-(Bits<V>)x);
  else
    return -x;
}

template <class V>
inline constexpr Bits<Scalar<V>> kSignBit = Bits<Scalar<V>>(1) << (sizeof(Scalar<V>) * 8 - 1);

// The smallest integer stays itself.
template <class V>
FUSELET_FN V abs(V x) {
  if constexpr (kIsInteger<V>)
    return select(x < Scalar<V>(0), neg(x), x);
  else
    return from_bits<V>(to_bits(x) & ~kSignBit<V>);
}

// magnitude (not negative) with the sign of `sign`.
template <class V>
FUSELET_FN V with_sign_of(V magnitude, V sign) {
  return from_bits<V>(to_bits(magnitude) | (to_bits(sign) & kSignBit<V>));
}

// The magnitude of x with the sign of `sign`.
template <class V>
FUSELET_FN V copysign(V x, V sign) {
  return with_sign_of(abs(x), sign);
}

template <class V>
FUSELET_FN V maximum(V x, V y) {
#ifdef FUSELET_DEVICE_UNITS
  if constexpr (kIsFloat<V>) return at_least_or_nan((float)x, (float)y);
#endif
  if constexpr (kIsInteger<V>)
    return select(x > y, x, y);
  else {
    V either = from_bits<V>(to_bits(x) & to_bits(y));  // for equal operands: the same value, and +0 beside -0
    return select(x == y, either, select((x > y) | (x != x), x, y));
  }
}

template <class V>
FUSELET_FN V minimum(V x, V y) {
#ifdef FUSELET_DEVICE_UNITS
  if constexpr (kIsFloat<V>) return at_most_or_nan((float)x, (float)y);
#endif
  if constexpr (kIsInteger<V>)
    return select(x < y, x, y);
  else {
    V either = from_bits<V>(to_bits(x) | to_bits(y));
    return select(x == y, either, select((x < y) | (x != x), x, y));
  }
}

// hi where lo > hi.
template <class V>
FUSELET_FN V clamp(V x, V lo, V hi) {
  return minimum(maximum(x, lo), hi);
}

// The nearest integer, ties to even. Adding 2^23 (2^52) and taking it away drops the fraction;
// larger values have none.
template <class V>
FUSELET_FN V round(V x) {
  if constexpr (kIsInteger<V>)
    return x;
  else {
    constexpr Scalar<V> kNoFraction = kIsFloat<V> ? Scalar<V>(0x1p23) : Scalar<V>(0x1p52);
    V magnitude = abs(x);
    V rounded = (magnitude + kNoFraction) - kNoFraction;
    return select(magnitude < kNoFraction, with_sign_of(rounded, x), x);
  }
}

template <class V>
FUSELET_FN V floor(V x) {
  if constexpr (kIsInteger<V>)
    return x;
  else {
    V nearest = round(x);
    return select(nearest > x, nearest - Scalar<V>(1), nearest);
  }
}

template <class V>
FUSELET_FN V trunc(V x) {
  if constexpr (kIsInteger<V>)
    return x;
  else
    return with_sign_of(floor(abs(x)), x);
}

// x + weight (end - x) from the end that is nearer, so that both ends come out exactly. Floating point only.
template <class V>
FUSELET_FN V lerp(V x, V end, V weight) {
  const V apart = end - x;
  return select(abs(weight) < Scalar<V>(0.5), x + weight * apart, end - apart * (Scalar<V>(1) - weight));
}

}  // namespace fuselet::formula
