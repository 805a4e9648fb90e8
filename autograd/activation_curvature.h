// Second derivatives of activations, in differentiable operators: what the VJPs of their gradients need.
#pragma once
#include "core/tensor.h"

namespace fuselet {

// d2/dx2 of silu: s (1 - s) (2 + x (1 - 2 s)) with s = sigmoid(x).
Tensor silu_curvature(const Tensor& x);
// d2/dx2 of the tanh form of gelu.
Tensor gelu_tanh_curvature(const Tensor& x);

}  // namespace fuselet
