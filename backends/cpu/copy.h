// Copies between tensors of any layout and dtype, by the project's cast rule.
#pragma once
#include "core/tensor.h"

namespace fuselet::cpu {

// source, broadcast to the sizes of target. As if source were read first, where they overlap.
void copy_into(const Tensor& target, const Tensor& source);

// A dense row-major copy.
Tensor copy_of(const Tensor& source);

// `t` itself, or where it is a large dense tensor whose last dimension is not the fastest in memory, a row-major copy:
// cheaper than walking it across its cache lines.
Tensor along_the_grain(const Tensor& t);

// A fresh tensor in row-major order.
Tensor make_tensor(DimsView sizes, DType dtype);

// A tensor's elements to a row-major array, and back. The array does not overlap the tensor.
void gather_into(const TensorImpl& from, void* to, DType to_dtype);
void scatter_from(const void* from, DType from_dtype, const TensorImpl& to);

}  // namespace fuselet::cpu
