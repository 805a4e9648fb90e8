// Copies between tensors of one CUDA device, of any layout and dtype, by the project's cast rule.
#pragma once
#include "core/tensor.h"

namespace fuselet::cuda {

// source, broadcast to the sizes of target; as if it were read first, where they overlap.
void copy_into(const Tensor& target, const Tensor& source);

// True iff the two may share an element.
bool may_overlap(const Tensor& a, const Tensor& b);

}  // namespace fuselet::cuda
