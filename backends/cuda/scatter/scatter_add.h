// scatter_add and index_add on CUDA: sums by destination, in index order.
//
// Equal results on every run: indices are sorted by destination, then one thread an element of the result adds what
// belongs to it, in the order of the indices, without atomics. Sums of 16-bit floats are kept in float and rounded
// once; integers wrap around. Indices are checked as they are sorted (sorted_indices.h).
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

void scatter_add(const Call& call);
void index_add(const Call& call);

}  // namespace fuselet::cuda
