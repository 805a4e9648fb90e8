#include "frontend/cpp/nn/activations.h"

#include "core/ops/functions.h"

namespace fuselet::nn {

Tensor ReLU::forward(const Tensor& input) { return relu(input); }
Tensor SiLU::forward(const Tensor& input) { return silu(input); }
Tensor Tanh::forward(const Tensor& input) { return tanh(input); }
Tensor Sigmoid::forward(const Tensor& input) { return sigmoid(input); }

GELU::GELU(std::string approximate) : Module("GELU"), approximate_(std::move(approximate)) {
  FUSELET_CHECK(approximate_ == "none" || approximate_ == "tanh", "GELU: approximate must be 'none' or 'tanh', got '",
                approximate_, "'");
}
Tensor GELU::forward(const Tensor& input) { return gelu(input, approximate_.c_str()); }

Tensor Softmax::forward(const Tensor& input) { return softmax(input, dim_); }

Dropout::Dropout(double p) : Module("Dropout"), p_(p) {
  FUSELET_CHECK(p >= 0 && p <= 1, "Dropout: the probability must lie in [0, 1], got ", p);
}
Tensor Dropout::forward(const Tensor& input) { return dropout(input, p_, is_training()); }

Tensor Flatten::forward(const Tensor& input) { return flatten(input, start_dim_, end_dim_); }

}  // namespace fuselet::nn
