// A binary tree over values in order: neighbours combine in pairs, a last one without partner moves
// up as it is.
//
// OrderedTree takes values one after another; combine_in_order takes an array. Both give the same
// bits, and both keep the earlier value on the left.
#pragma once

#include "core/formulas/vectors.h"

namespace fuselet {

// The ordered tree over values that come one after another. It holds one value for each set bit of
// their count.
template <class V, class Combine>
class OrderedTree {
 public:
  FUSELET_FN explicit OrderedTree(Combine combine) : combine_(combine) {}

  FUSELET_FN void push(V value) {
    int level = 0;
    for (unsigned long long bits = count_; bits & 1; bits >>= 1) value = combine_(levels_[level++], value);
    levels_[level] = value;
    ++count_;
  }

  FUSELET_FN V result(V identity) const {
    bool empty = true;
    V value = identity;
    for (int level = 0; level < kMaxLevels; ++level) {
      if ((count_ >> level & 1) == 0) continue;
      value = empty ? levels_[level] : combine_(levels_[level], value);
      empty = false;
    }
    return value;
  }

 private:
  static constexpr int kMaxLevels = 40;
  Combine combine_;
  unsigned long long count_ = 0;
  V levels_[kMaxLevels];
};

// The ordered tree over `count` values that are there already, for results that threads left in an
// array. Overwrites it.
template <class V, class Combine>
FUSELET_FN V combine_in_order(V* values, long long count, V identity, Combine combine) {
  if (count == 0) return identity;
  for (; count > 1; count = (count + 1) / 2) {
    for (long long i = 0; i + 1 < count; i += 2) values[i / 2] = combine(values[i], values[i + 1]);
    if (count % 2 == 1) values[count / 2] = values[count - 1];
  }
  return values[0];
}

}  // namespace fuselet
