// Matrix products of tensors, for the kernels that are built on one.
#pragma once
#include "core/tensor.h"

namespace fuselet::cpu {

// out = a @ b with matmul's rules; out has the product's sizes and shares no memory with a or b. 16-bit floats are
// multiplied in float and rounded once; integers wrap around.
void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b);

// out = bias + product, broadcast; product may be out.
void add_bias(const Tensor& out, const Tensor& bias, const Tensor& product);

}  // namespace fuselet::cpu
