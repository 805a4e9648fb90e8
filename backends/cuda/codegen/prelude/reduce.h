// Reductions of a row by the threads of a block, in the order that core/device_tree.h fixes. Generated units paste it.
#pragma once

#include "backends/cuda/codegen/prelude/values.h"
#include "core/device_tree.h"

namespace fuselet::device {

struct Sum {
  template <class A>
  FUSELET_FN A operator()(A x, A y) const {
    return formula::add(x, y);
  }
  template <class A>
  static FUSELET_FN A identity() {
    return A(0);
  }
};
struct Max {
  template <class A>
  FUSELET_FN A operator()(A x, A y) const {
    return formula::maximum(x, y);
  }
  template <class A>
  static FUSELET_FN A identity() {
    if constexpr (kSame<A, long>)
      return -9223372036854775807L - 1;
    else
      return -A(__int_as_float(0x7f800000));
  }
};
struct Min {
  template <class A>
  FUSELET_FN A operator()(A x, A y) const {
    return formula::minimum(x, y);
  }
  template <class A>
  static FUSELET_FN A identity() {
    if constexpr (kSame<A, long>)
      return 9223372036854775807L;
    else
      return A(__int_as_float(0x7f800000));
  }
};

// The positions of a row, V to a thread, T threads (a power of two): every thread of the row gets their combination.
// `slots`: shared memory of one A a warp and row; unused where T is at most a warp. All threads of the block come here.
template <class Op, int V, int T, class A>
FUSELET_FN A combine_positions(A (&values)[V], A* slots, int thread) {
  Op op;
#pragma unroll
  for (int half = 1; half < V; half *= 2) {
#pragma unroll
    for (int v = 0; v + half < V; v += 2 * half) values[v] = op(values[v], values[v + half]);
  }
  A value = values[0];
#pragma unroll
  for (int lane = 1; lane < (T < 32 ? T : 32); lane *= 2) value = op(value, __shfl_xor_sync(0xffffffffu, value, lane));
  if constexpr (T > 32) {
    constexpr int kWarps = T / 32;
    __syncthreads();  // the slots may still be read
    if (thread % 32 == 0) slots[thread / 32] = value;
    __syncthreads();
    A warps[kWarps];
#pragma unroll
    for (int w = 0; w < kWarps; ++w) warps[w] = slots[w];
#pragma unroll
    for (int half = 1; half < kWarps; half *= 2) {
#pragma unroll
      for (int w = 0; w + half < kWarps; w += 2 * half) warps[w] = op(warps[w], warps[w + half]);
    }
    value = warps[0];
  }
  return value;
}

// The sums so far of a leaf's columns, from memory that its thread alone touches; the identity for the leaf's first
// row.
template <class Op, class A, int V, class Index>
FUSELET_FN void read_column_partials(bool is_first_row, const A* partials, Index first, Index n, A (&to)[V]) {
#pragma unroll
  for (int v = 0; v < V; ++v) to[v] = is_first_row || first + v >= n ? Op::template identity<A>() : partials[first + v];
}

// Partial results [0, count), `apart` elements apart, in the order of core/device_tree.h: by one thread.
template <class Op, class A, class Index>
FUSELET_FN A combine_partials(const A* partials, Index count, Index apart) {
  Op op;
  A values[kPartialPositions];
#pragma unroll
  for (int p = 0; p < kPartialPositions; ++p) values[p] = Op::template identity<A>();
  for (Index first = 0; first < count; first += kPartialPositions) {
#pragma unroll
    for (int p = 0; p < kPartialPositions; ++p) {
      if (first + p < count) values[p] = op(values[p], partials[(first + p) * apart]);
    }
  }
#pragma unroll
  for (int half = 1; half < kPartialPositions; half *= 2) {
#pragma unroll
    for (int p = 0; p + half < kPartialPositions; p += 2 * half) values[p] = op(values[p], values[p + half]);
  }
  return values[0];
}

// The same by one thread a position: thread `position` of 32 columns side by side; the result is every thread's. All
// threads of the block come here.
template <class Op, class A, class Index>
FUSELET_FN A combine_partials_together(const A* partials, Index count, Index apart, int position, A (*results)[32]) {
  Op op;
  A value = Op::template identity<A>();
#pragma unroll 4
  for (Index i = position; i < count; i += kPartialPositions) value = op(value, partials[i * apart]);
  const int lane = threadIdx.x % 32;
  __syncthreads();  // results of another sum may still be read
  results[position][lane] = value;
  __syncthreads();
  A values[kPartialPositions];
#pragma unroll
  for (int p = 0; p < kPartialPositions; ++p) values[p] = results[p][lane];
#pragma unroll
  for (int half = 1; half < kPartialPositions; half *= 2) {
#pragma unroll
    for (int p = 0; p + half < kPartialPositions; p += 2 * half) values[p] = op(values[p], values[p + half]);
  }
  return values[0];
}

}  // namespace fuselet::device
