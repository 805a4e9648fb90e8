#include "frontend/cpp/nn/parameter_vector.h"

#include "core/ops/functions.h"

namespace fuselet::nn::utils {

Tensor parameters_to_vector(const std::vector<Tensor>& parameters, Location line) {
  LineScope scope(&line);
  FUSELET_CHECK(!parameters.empty(), "parameters_to_vector: expected at least one parameter");
  std::vector<Tensor> flat;
  for (const Tensor& p : parameters) flat.push_back(p.reshape({-1}));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters, Location line) {
  LineScope scope(&line);
  NoGradGuard no_grad;
  int64_t count = 0;
  for (const Tensor& p : parameters) count += p.numel();
  FUSELET_CHECK(vector.dim() == 1 && vector.numel() == count, "vector_to_parameters: a vector of shape ",
                to_string(vector.sizes()), " for parameters of ", count, " elements");
  int64_t at = 0;
  for (const Tensor& p : parameters) {
    p.copy_(narrow(vector, 0, at, p.numel()).reshape(p.sizes()));
    at += p.numel();
  }
}

}  // namespace fuselet::nn::utils
