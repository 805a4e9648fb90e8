// Gradients laid out as the memory of the tensor that they belong to, so that a strided view of that tensor is a
// strided view of its gradient. The tensor must be dense; offsets then count from its first element.
#pragma once
#include "core/tensor.h"

namespace fuselet {

struct Geometry {
  Dims sizes, strides;
  SymInt offset;
};

inline Geometry geometry_of(const TensorImpl& t) { return {Dims(t.sizes()), Dims(t.strides()), t.offset()}; }

// The sizes of a dense tensor, in the order of its dimensions in memory.
Dims sizes_in_memory(const Geometry& tensor);
// `g`, of the tensor's sizes, permuted to memory order: contiguous, from the start of its own storage.
Tensor in_memory_order(const Tensor& g, const Geometry& tensor);
// The inverse permutation.
Tensor from_memory_order(const Tensor& g, const Geometry& tensor);

}  // namespace fuselet
