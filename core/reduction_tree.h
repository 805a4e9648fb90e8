// The order in which reductions combine: a function of the extent alone, the same for every backend
// and thread count.
//
// Along the innermost axis (reduce_row), n elements:
//   1. chunks of kChunk elements; the last one is filled up with the identity to a multiple of
//   kTreeLanes;
//   2. in a chunk, lane l starts at the identity and combines elements l, l + kTreeLanes, l + 2
//   kTreeLanes, … in turn;
//   3. the lanes are halved: lane l takes lane l + 8 on its right, then l + 4, l + 2, l + 1;
//   4. chunk results are combined in an ordered tree: neighbours in pairs, a last one without
//   partner moves up as it is.
// Along another axis (reduce_column), n rows, for each column alone:
//   1. leaves of kRowsPerLeaf rows; a leaf starts at the identity and combines its rows in turn;
//   2. leaf results are combined in the same ordered tree.
// n = 0 gives the identity. Sums are taken in the accumulator's type (float for float), so the
// depth bounds the error: for 10^6 elements of a row 32 + 4 + 11 roundings meet in one value.
#pragma once

#include "core/formulas/lanes.h"
#include "core/ordered_tree.h"

namespace fuselet {

// The lanes of the widest vector register (16 floats), whatever the accumulator: one rule for all
// types.
inline constexpr int kTreeLanes = 16;

// Elements. 32 steps of a lane hide the cost of halving; a row of 4096 still splits over 128 GPU
// threads.
inline constexpr long long kChunk = 512;

// Rows. Enough to keep the tree's bookkeeping below a tenth of the work, few enough to spread tall
// columns.
inline constexpr long long kRowsPerLeaf = 64;

FUSELET_FN long long chunk_count(long long n) { return (n + kChunk - 1) / kChunk; }
FUSELET_FN long long leaf_count(long long rows) { return (rows + kRowsPerLeaf - 1) / kRowsPerLeaf; }

// load(row) gives a V: one column's element, or a vector of columns. combine(V, V) -> V acts on
// each lane alone.
template <class V, class Load, class Combine>
FUSELET_FN V reduce_leaf(long long first, long long end, V identity, Load load, Combine combine) {
  V value = identity;
  for (long long row = first; row < end; ++row) value = combine(value, load(row));
  return value;
}

template <class V, class Load, class Combine>
FUSELET_FN V reduce_column(long long rows, V identity, Load load, Combine combine) {
  if (rows <= kRowsPerLeaf) return reduce_leaf(0, rows, identity, load, combine);
  OrderedTree<V, Combine> tree(combine);
  for (long long first = 0; first < rows; first += kRowsPerLeaf) {
    long long end = first + kRowsPerLeaf < rows ? first + kRowsPerLeaf : rows;
    tree.push(reduce_leaf(first, end, identity, load, combine));
  }
  return tree.result(identity);
}

#ifndef FUSELET_DEVICE_FORMULAS

// The accumulator's native vector: kTreeLanes is a multiple of its lanes.
template <class Acc>
struct TreeVector;
template <>
struct TreeVector<float> {
  using Type = formula::FloatLanes;
};
template <>
struct TreeVector<double> {
  using Type = formula::DoubleLanes;
};
template <>
struct TreeVector<long> {
  using Type = formula::Int64Lanes;
};

// Step 3, for lanes spread over the vectors of an array.
template <class V, int Count, class Combine>
FUSELET_FN formula::Scalar<V> halve_lanes(V (&lanes)[Count], Combine combine) {
  for (int half = Count / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] = combine(lanes[i], lanes[i + half]);
  }
  V value = lanes[0];
  for (int half = formula::kLanes<V> / 2; half > 0; half /= 2) {
    V upper = value;
    for (int i = 0; i < half; ++i) upper[i] = value[i + half];
    value = combine(value, upper);  // lanes from `half` on are not used any more
  }
  return value[0];
}

// Steps 1 to 3 for the chunk that begins at `first` of a row of n.
//
// load.template operator()<V>(i) gives elements i, i + 1, … as the lanes of V; V is
// TreeVector<Acc>::Type or, in the tail, Acc. combine takes both.
template <class Acc, class Load, class Combine>
FUSELET_FN Acc reduce_chunk(long long first, long long n, Acc identity, Load load, Combine combine) {
  using V = typename TreeVector<Acc>::Type;
  constexpr int width = formula::kLanes<V>, count = kTreeLanes / width;
  V lanes[count];
  for (int k = 0; k < count; ++k) lanes[k] = formula::splat<V>(identity);
  long long end = first + kChunk < n ? first + kChunk : n, i = first;
  for (; i + kTreeLanes <= end; i += kTreeLanes) {
    for (int k = 0; k < count; ++k) lanes[k] = combine(lanes[k], load.template operator()<V>(i + k * width));
  }
  if (i < end) {
    Acc tail[kTreeLanes];
    for (int l = 0; l < kTreeLanes; ++l) tail[l] = i + l < end ? load.template operator()<Acc>(i + l) : identity;
    for (int k = 0; k < count; ++k) {
      V padded;
      __builtin_memcpy(&padded, tail + k * width, sizeof padded);
      lanes[k] = combine(lanes[k], padded);
    }
  }
  return halve_lanes(lanes, combine);
}

template <class Acc, class Load, class Combine>
inline Acc reduce_row(long long n, Acc identity, Load load, Combine combine) {
  if (n == 0) return identity;
  if (n <= kChunk) return reduce_chunk(0, n, identity, load, combine);
  OrderedTree<Acc, Combine> tree(combine);
  for (long long first = 0; first < n; first += kChunk) tree.push(reduce_chunk(first, n, identity, load, combine));
  return tree.result(identity);
}

#endif

}  // namespace fuselet
