// Comparisons, logic and choice: 0 or 1 in V. True means nonzero, so NaN is true.
#pragma once

#include "core/formulas/lanes.h"

namespace fuselet::formula {

template <class V>
FUSELET_FN V eq(V x, V y) {
  return select(x == y, splat<V>(1), splat<V>(0));
}
template <class V>
FUSELET_FN V ne(V x, V y) {
  return select(x != y, splat<V>(1), splat<V>(0));
}
template <class V>
FUSELET_FN V lt(V x, V y) {
  return select(x < y, splat<V>(1), splat<V>(0));
}
template <class V>
FUSELET_FN V le(V x, V y) {
  return select(x <= y, splat<V>(1), splat<V>(0));
}
template <class V>
FUSELET_FN V gt(V x, V y) {
  return select(x > y, splat<V>(1), splat<V>(0));
}
template <class V>
FUSELET_FN V ge(V x, V y) {
  return select(x >= y, splat<V>(1), splat<V>(0));
}

template <class V>
FUSELET_FN V logical_and(V x, V y) {
  return select((x != Scalar<V>(0)) & (y != Scalar<V>(0)), splat<V>(1), splat<V>(0));
}
template <class V>
FUSELET_FN V logical_or(V x, V y) {
  return select((x != Scalar<V>(0)) | (y != Scalar<V>(0)), splat<V>(1), splat<V>(0));
}

// Of -0 and of NaN with a minus too.
template <class V>
FUSELET_FN V signbit(V x) {
  if constexpr (kIsInteger<V>) {
    return select(x < Scalar<V>(0), splat<V>(1), splat<V>(0));
  } else {
    constexpr Bits<Scalar<V>> kSign = Bits<Scalar<V>>(1) << (sizeof(Scalar<V>) * 8 - 1);
    return select((to_bits(x) & kSign) != 0u, splat<V>(1), splat<V>(0));
  }
}

template <class V>
FUSELET_FN V where(V condition, V yes, V no) {
  return select(condition != Scalar<V>(0), yes, no);
}

}  // namespace fuselet::formula
