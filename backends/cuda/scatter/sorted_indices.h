// Indices sorted by what they point to, stably: the first step of scatters whose sums have a fixed order.
//
// A line of indices becomes as many keys, destination << shift | position, in ascending order; equal destinations are
// neighbours, and among them positions ascend. An index out of range is left for the host (index_failures.h) and gets
// the destination `size`. A bitonic network sorts: tiles of a block's shared memory, then passes over device memory.
#pragma once
#include "core/tensor.h"

namespace fuselet::cuda {

struct SortedIndices {
  Tensor keys;     // int64 words that count as unsigned; a line takes `padded`, of which the first `length` are keys
  int64_t length;  // indices of a line
  int64_t padded;  // the power of two from `length` on
  int shift;       // log2(padded)
  int64_t size;    // destinations of a line
};

// index: int64, row-major, lines of `length`, each index of [-size, size). `op` goes into the error's text.
SortedIndices sort_indices(const Tensor& index, int64_t length, int64_t size, const char* op);

// Sorts lines of 2^shift keys in place, as unsigned words. keys: int64, row-major, a whole number of lines.
void sort_keys(const Tensor& keys, int shift);

}  // namespace fuselet::cuda
