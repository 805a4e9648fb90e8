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

// Elements [0, n) of one dtype to another; the arrays do not overlap.
void convert_array(const void* from, DType from_dtype, void* to, DType to_dtype, int64_t n);

}  // namespace fuselet::cpu
