// Matrix products of tensors, for the kernels that are built on one.
#pragma once
#include "backends/cpu/function_ref.h"
#include "core/tensor.h"

namespace fuselet::cpu {

// out = a @ b with matmul's rules; out has the product's sizes and shares no memory with a or b. 16-bit floats are
// multiplied in float and rounded once; integers wrap around.
void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b);

// The same for float32 and float64 matrices or batches of them; post_work(row, row_end, column, column_end) is called
// once for each part of the result, rows counted through the batch, by the thread that has just finished it.
void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b,
                 FunctionRef<void(int64_t row, int64_t row_end, int64_t column, int64_t column_end)> post_work);

// out = bias + product, broadcast; product may be out.
void add_bias(const Tensor& out, const Tensor& bias, const Tensor& product);

}  // namespace fuselet::cpu
