#include "frontend/cpp/nn/weight_norm.h"

#include "frontend/cpp/nn/functional.h"

namespace fuselet::nn::utils {
namespace {

// The norms over all dimensions but `dim`, which keep v's rank; over all of them for -1.
Tensor norm_except(const Tensor& v, int64_t dim) {
  if (dim == -1) return functional::vector_norm(v);
  if (v.dim() == 1) return abs(v);
  Dims others;
  for (int64_t d = 0; d < v.dim(); ++d) {
    if (d != wrap_dim(dim, v.dim(), "weight_norm")) others.push_back(SymInt(d));
  }
  return functional::vector_norm(v, 2, others, true);
}

}  // namespace

void weight_norm(Module module, const std::string& name, int64_t dim) {
  NoGradGuard no_grad;
  const Tensor weight = module.parameter(name);
  FUSELET_CHECK(weight.defined(), module.kind(), ": the parameter '", name, "' is absent");
  Tensor values = weight.detach();
  module.compute_parameter(
      name, {{name + "_g", norm_except(values, dim)}, {name + "_v", values}},
      [dim](const std::vector<Tensor>& parts) { return parts[1] * (parts[0] / norm_except(parts[1], dim)); });
}

void remove_weight_norm(Module module, const std::string& name) { module.keep_computed_parameter(name); }

}  // namespace fuselet::nn::utils
