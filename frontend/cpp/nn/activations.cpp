#include "frontend/cpp/nn/activations.h"

#include "core/ops/functions.h"

namespace fuselet::nn {
namespace {

void check_probability(const Module& layer, double p) {
  FUSELET_CHECK(p >= 0 && p <= 1, layer.kind(), ": the probability must lie in [0, 1], got ", p);
}

}  // namespace

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

Tensor Mish::forward(const Tensor& input) { return mish(input); }
Tensor SELU::forward(const Tensor& input) { return selu(input); }
Tensor ReLU6::forward(const Tensor& input) { return relu6(input); }
Tensor Hardswish::forward(const Tensor& input) { return hardswish(input); }
Tensor Hardsigmoid::forward(const Tensor& input) { return hardsigmoid(input); }
Tensor Softsign::forward(const Tensor& input) { return softsign(input); }
Tensor Tanhshrink::forward(const Tensor& input) { return tanhshrink(input); }
Tensor LogSigmoid::forward(const Tensor& input) { return log_sigmoid(input); }
Tensor LeakyReLU::forward(const Tensor& input) { return leaky_relu(input, negative_slope_); }
Tensor ELU::forward(const Tensor& input) { return elu(input, alpha_); }
Tensor CELU::forward(const Tensor& input) { return celu(input, alpha_); }
Tensor Softshrink::forward(const Tensor& input) { return softshrink(input, lambd_); }
Tensor Hardshrink::forward(const Tensor& input) { return hardshrink(input, lambd_); }
Tensor Softplus::forward(const Tensor& input) { return softplus(input, beta_, threshold_); }
Tensor Hardtanh::forward(const Tensor& input) { return hardtanh(input, min_val_, max_val_); }
Tensor Threshold::forward(const Tensor& input) { return fuselet::threshold(input, threshold_, value_); }
Tensor GLU::forward(const Tensor& input) { return glu(input, dim_); }
Tensor LogSoftmax::forward(const Tensor& input) { return log_softmax(input, dim_); }
Tensor Softmin::forward(const Tensor& input) { return softmax(-input, dim_); }
PReLU::PReLU(int64_t num_parameters, double init) : Module("PReLU") {
  FUSELET_CHECK(num_parameters > 0, "PReLU: expected a positive number of parameters, got ", num_parameters);
  register_parameter("weight", full({num_parameters}, init));
}
Tensor PReLU::forward(const Tensor& input) { return prelu(input, weight()); }

Dropout::Dropout(double p) : Module("Dropout"), p_(p) { check_probability(*this, p); }
Tensor Dropout::forward(const Tensor& input) { return dropout(input, p_, is_training()); }

Dropout2d::Dropout2d(double p) : Module("Dropout2d"), p_(p) { check_probability(*this, p); }
Tensor Dropout2d::forward(const Tensor& input) {
  FUSELET_CHECK(input.dim() == 4, "Dropout2d: expected input (N, C, H, W), got shape ", to_string(input.sizes()));
  if (!is_training() || p_ == 0) return input;
  return input * dropout(ones({input.size(0), input.size(1), 1, 1}, input.dtype(), input.device()), p_);
}

Tensor Flatten::forward(const Tensor& input) { return flatten(input, start_dim_, end_dim_); }

}  // namespace fuselet::nn
