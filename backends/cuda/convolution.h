// conv2d and its gradients on a CUDA device, as kernels of the operator table. Deterministic; floating dtypes.
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

// Bytes of columns that one product takes; images beyond are the next one's. At first large enough to keep a GPU busy,
// and small beside its memory. Tests lower it; results differ by the rounding of weight gradients alone.
int64_t column_bytes();
void set_column_bytes(int64_t bytes);

void conv2d(const Call& call);
void conv2d_input_grad(const Call& call);
void conv2d_weight_grad(const Call& call);

}  // namespace fuselet::cuda
