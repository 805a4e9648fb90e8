// Copies between tensors of any layout and dtype, by the project's cast rule.
#pragma once
#include "core/tensor.h"

namespace fuselet::cpu {

// source, broadcast to the sizes of target. As if source were read first, where they overlap.
void copy_into(const Tensor& target, const Tensor& source);

// A dense row-major copy.
Tensor copy_of(const Tensor& source);

// A fresh tensor in row-major order.
Tensor make_tensor(DimsView sizes, DType dtype);

// A tensor's elements to a row-major array, and back. The array does not overlap the tensor.
void gather_into(const TensorImpl& from, void* to, DType to_dtype);
void scatter_from(const void* from, DType from_dtype, const TensorImpl& to);

}  // namespace fuselet::cpu
