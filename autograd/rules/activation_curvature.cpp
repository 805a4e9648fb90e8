#include "autograd/activation_curvature.h"

#include "core/ops/functions.h"

namespace fuselet {

Tensor silu_curvature(const Tensor& x) {
  Tensor s = sigmoid(x);
  return s * (1 - s) * (x * (1 - s * 2) + 2);
}

// gelu_tanh = x/2 (1 + t), t = tanh(u), u = c (x + k x^3):
// second derivative (1 - t^2) (u' - x t u'^2 + x u'' / 2)
Tensor gelu_tanh_curvature(const Tensor& x) {
  constexpr double c = 0.7978845608028654, k = 0.044715;
  Tensor x2 = square(x);
  Tensor t = tanh(x * (x2 * k + 1) * c);
  Tensor du = (x2 * (3 * k) + 1) * c;
  Tensor d2u = x * (6 * k * c);
  return (1 - square(t)) * (du - x * t * square(du) + x * d2u * 0.5);
}

}  // namespace fuselet
