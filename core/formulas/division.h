// Quotients rounded to whole numbers, and what is left of them.
//
// Floating point: fmod is exact, and the others are made of it, so a quotient just below a whole number is not rounded
// up to it. A division by 0 is what `/` makes of it. Integers: a division by 0 gives 0 and leaves 0, and the smallest
// one over -1 wraps around to itself.
#pragma once

#include "core/formulas/arithmetic.h"
#include "core/formulas/library.h"

namespace fuselet::formula {

// y, or 1 where a machine's integer division by y could trap.
template <class V>
FUSELET_FN V harmless_divisor(V y) {
  return select((y == Scalar<V>(0)) | (y == Scalar<V>(-1)), splat<V>(1), y);
}

// With the sign of x.
template <class V>
FUSELET_FN V fmod(V x, V y) {
  if constexpr (kIsInteger<V>)
    return x % harmless_divisor(y);
  else
    return map_lanes([](Scalar<V> a, Scalar<V> b) { return library_fmod(a, b); }, x, y);
}

// Where the quotient whose remainder is `rest` lies below 0, and is not whole.
template <class V>
FUSELET_FN auto is_rounded_up(V rest, V y) {
  return (rest != Scalar<V>(0)) & ((rest < Scalar<V>(0)) != (y < Scalar<V>(0)));
}

// With the sign of y.
template <class V>
FUSELET_FN V remainder(V x, V y) {
  const V rest = fmod(x, y);
  if constexpr (kIsInteger<V>)
    return select(is_rounded_up(rest, y) & (y != Scalar<V>(0)), add(rest, y), rest);
  else
    return select(is_rounded_up(rest, y), rest + y, rest);
}

template <class V>
FUSELET_FN V trunc_divide(V x, V y) {
  if constexpr (kIsInteger<V>) {
    const V quotient = select(y == Scalar<V>(-1), neg(x), x / harmless_divisor(y));
    return select(y == Scalar<V>(0), splat<V>(0), quotient);
  } else {
    return trunc(div(x, y));
  }
}

template <class V>
FUSELET_FN V floor_divide(V x, V y) {
  const V rest = fmod(x, y);
  if constexpr (kIsInteger<V>) {
    const V quotient = trunc_divide(x, y);
    return select(is_rounded_up(rest, y) & (y != Scalar<V>(0)), sub(quotient, splat<V>(1)), quotient);
  } else {
    V quotient = div(x - rest, y);  // whole but for the rounding of x - rest
    quotient = select(is_rounded_up(rest, y), quotient - Scalar<V>(1), quotient);
    V whole = floor(quotient);
    whole = select(quotient - whole > Scalar<V>(0.5), whole + Scalar<V>(1), whole);
    whole = select(quotient == Scalar<V>(0), with_sign_of(splat<V>(0), div(x, y)), whole);
    return select(y == Scalar<V>(0), div(x, y), whole);
  }
}

}  // namespace fuselet::formula
