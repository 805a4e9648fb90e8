// scatter_add, index_add and their like on CUDA: elements taken in by destination, in index order.
//
// Equal results on every run: indices are sorted by destination, then one thread an element of the result adds,
// multiplies, compares or writes what belongs to it, in the order of the indices, without atomics. 16-bit floats are
// kept in float meanwhile and rounded once; integers wrap around. Indices are checked as they are sorted
// (sorted_indices.h).
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

void scatter_add(const Call& call);
void index_add(const Call& call);
void scatter(const Call& call);
void index_copy(const Call& call);
void scatter_fold(const Call& call);

}  // namespace fuselet::cuda
