// conv2d and its gradients on a CUDA device, as kernels of the operator table. Deterministic; floating dtypes.
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

void conv2d(const Call& call);
void conv2d_input_grad(const Call& call);
void conv2d_weight_grad(const Call& call);

}  // namespace fuselet::cuda
