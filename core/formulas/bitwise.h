// Bits of integers.
#pragma once

#include "core/formulas/lanes.h"

namespace fuselet::formula {

template <class V>
FUSELET_FN V bitwise_and(V x, V y) {
  return x & y;
}
template <class V>
FUSELET_FN V bitwise_or(V x, V y) {
  return x | y;
}
template <class V>
FUSELET_FN V bitwise_xor(V x, V y) {
  return x ^ y;
}

// Shifted by a number that is no position, every bit has left.
template <class V>
FUSELET_FN V bitwise_left_shift(V x, V y) {
  const auto leaves = (y < Scalar<V>(0)) | (y > Scalar<V>(63));
  return select(leaves, splat<V>(0), (V)((Bits<V>)x << (Bits<V>)select(leaves, splat<V>(0), y)));
}
template <class V>
FUSELET_FN V bitwise_right_shift(V x, V y) {
  const auto leaves = (y < Scalar<V>(0)) | (y > Scalar<V>(63));
  return x >> select(leaves, splat<V>(63), y);
}

}  // namespace fuselet::formula
