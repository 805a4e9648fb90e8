#include "frontend/cpp/nn/clip_grad.h"

#include <set>

#include "core/ops/functions.h"

namespace fuselet::nn::utils {

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type, Location line) {
  LineScope scope(&line);
  NoGradGuard no_grad;
  FUSELET_CHECK(max_norm >= 0, "clip_grad_norm_: max_norm must not be negative, got ", max_norm);
  std::vector<Tensor> grads;
  std::set<const TensorImpl*> seen;
  for (const Tensor& p : parameters) {
    Tensor grad = p.grad();
    if (grad.defined() && seen.insert(grad.impl()).second) grads.push_back(grad);
  }
  if (grads.empty()) return zeros({}, DType::Float32);
  return clip_grad_norm(grads, max_norm, norm_type);
}

}  // namespace fuselet::nn::utils
