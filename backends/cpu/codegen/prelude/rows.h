// Passes over a row, vector by vector, and what they reduce, in the order of core/reduction_tree.h. Generated units
// paste it.
#pragma once

#include "backends/cpu/codegen/prelude/lanes.h"
#include "core/formulas/arithmetic.h"
#include "core/reduction_tree.h"

namespace fuselet::generated {

// As over_lanes, with the place k of the vector among the tree's lanes, and the number c of its chunk. Together == 1:
// one chunk, in whole groups of kTreeLanes, the last one filled up. More: as many full chunks side by side.
template <int W, int Together, class Step>
FUSELET_FN void over_chunks(long first, long end, Step step) {
  constexpr int kVectors = kTreeLanes / W;
  if constexpr (Together > 1) end = first + kChunk;
  long j = first;
  for (; j + kTreeLanes <= end; j += kTreeLanes) {
#pragma GCC unroll 8
    for (int c = 0; c < Together; ++c) {
#pragma GCC unroll 8
      for (int k = 0; k < kVectors; ++k) step(Whole{}, j + c * kChunk + k * W, k, c);
    }
  }
  if (Together == 1 && j < end) {
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k) step(First{end - j - k * W}, j + k * W, k, 0);
  }
}

template <class T>
inline constexpr T kHighest = T(__builtin_inf());
template <>
inline constexpr long kHighest<long> = __LONG_MAX__;
template <class T>
inline constexpr T kLowest = -kHighest<T>;
template <>
inline constexpr long kLowest<long> = -__LONG_MAX__ - 1;

struct Sum {
  template <class V>
  FUSELET_FN V operator()(V a, V b) const {
    return formula::add(a, b);
  }
  template <class T>
  static constexpr T kIdentity = T(0);
};
struct Max {
  template <class V>
  FUSELET_FN V operator()(V a, V b) const {
    return formula::maximum(a, b);
  }
  template <class T>
  static constexpr T kIdentity = kLowest<T>;
};
struct Min {
  template <class V>
  FUSELET_FN V operator()(V a, V b) const {
    return formula::minimum(a, b);
  }
  template <class T>
  static constexpr T kIdentity = kHighest<T>;
};

// halve_lanes of core/reduction_tree.h, within registers.
template <class V, int Count, class Combine>
FUSELET_FN formula::Scalar<V> halve(V (&lanes)[Count], Combine combine) {
#ifdef __clang__
  return halve_lanes(lanes, combine);
#else
  constexpr int kLanes = formula::kLanes<V>;
#pragma GCC unroll 8
  for (int half = Count / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < half; ++i) lanes[i] = combine(lanes[i], lanes[i + half]);
  }
  V value = lanes[0];
#pragma GCC unroll 8
  for (int half = kLanes / 2; half > 0; half /= 2) {
    value = combine(value, __builtin_shuffle(value, (lane_numbers<formula::Ints<V>>() + half) & (kLanes - 1)));
  }
  return value[0];
#endif
}

// One chunk of a row, of T.
template <class T, class Combine, int W>
struct Chunk {
  using V = Lanes<T, W>;
  V lanes[kTreeLanes / W];

  FUSELET_FN Chunk() {
    for (V& lane : lanes) lane = formula::splat<V>(Combine::template kIdentity<T>);
  }
  FUSELET_FN void take(Whole, int k, V v) { lanes[k] = Combine()(lanes[k], v); }
  FUSELET_FN void take(First first, int k, V v) {
    using Mask = formula::Ints<V>;
    const auto inside = lane_numbers<Mask>() < (typename LaneInfo<Mask>::Lane)first.count;
    lanes[k] = Combine()(lanes[k], inside ? v : formula::splat<V>(Combine::template kIdentity<T>));
  }
  FUSELET_FN T result() { return halve(lanes, Combine()); }
};

// Chunks of a row, or leaves of columns, in order.
template <class V, class Combine>
struct Tree {
  OrderedTree<V, Combine> tree{Combine()};
  FUSELET_FN void push(V value) { tree.push(value); }
  FUSELET_FN V result() const {
    return tree.result(formula::splat<V>(Combine::template kIdentity<formula::Scalar<V>>));
  }
};

// Memory that is needed soon; any address will do.
FUSELET_FN void fetch_to_read(const void* from) { __builtin_prefetch(from, 0); }
FUSELET_FN void fetch_to_write(const void* to) { __builtin_prefetch(to, 1); }

// A whole vector in a buffer of lanes, and back.
template <class T, class V>
FUSELET_FN void keep(T* to, V v) {
  __builtin_memcpy(to, &v, sizeof v);
}
template <class V, class T>
FUSELET_FN V kept(const T* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

// Columns j, j + 1, …: `count` leaves of them, `stride` apart, in order.
template <class Combine, int W, class N, class T>
FUSELET_FN Lanes<T, W> tree_of_leaves(N lanes, const T* leaf, long count, long stride) {
  Tree<Lanes<T, W>, Combine> tree;
  for (long i = 0; i < count; ++i) tree.push(load<W>(lanes, leaf + i * stride));
  return tree.result();
}
// The chunks of a row, few enough to be held. Overwrites them.
template <class Combine, class T, int Count>
FUSELET_FN T tree_of_parts(T (&parts)[Count]) {
  return combine_in_order(parts, Count, Combine::template kIdentity<T>, Combine());
}
template <class Combine, class T>
FUSELET_FN T tree_of_chunks(const T* chunk, long count) {
  Tree<T, Combine> tree;
  for (long i = 0; i < count; ++i) tree.push(chunk[i]);
  return tree.result();
}

}  // namespace fuselet::generated
