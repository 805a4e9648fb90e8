// Composite operators of neural networks.
#include <string_view>

#include "core/ops/composites.h"
#include "core/ops/functions.h"

namespace fuselet::composite {

Tensor clamp(const Tensor& self, const std::optional<Operand>& min, const std::optional<Operand>& max) {
  FUSELET_CHECK(min || max, "clamp: expected min, max or both");
  Tensor out = min ? self.clamp_min(*min) : self;
  return max ? out.clamp_max(*max) : out;
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  FUSELET_CHECK(self.dim() == 3 && mat2.dim() == 3 && self.sizes()[0] == mat2.sizes()[0],
                "bmm: expected shapes (B, N, K) and (B, K, M), got ", to_string(self.sizes()), " and ",
                to_string(mat2.sizes()));
  return matmul(self, mat2);
}

Tensor mm(const Tensor& self, const Tensor& mat2) {
  FUSELET_CHECK(self.dim() == 2 && mat2.dim() == 2, "mm: expected matrices, got ", to_string(self.sizes()), " and ",
                to_string(mat2.sizes()));
  return matmul(self, mat2);
}

Tensor gelu(const Tensor& self, const char* approximate) {
  std::string_view form = approximate;
  FUSELET_CHECK(form == "none" || form == "tanh", "gelu: approximate must be 'none' or 'tanh', got '", form, "'");
  return form == "tanh" ? gelu_tanh(self) : gelu_erf(self);
}

Tensor dropout(const Tensor& self, double p, bool training) {
  FUSELET_CHECK(p >= 0 && p <= 1, "dropout: the probability must lie in [0, 1], got ", p);
  if (!training || p == 0) return self;
  return dropout_forward(self, p)[0];
}

Tensor max_pool2d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, IntList dilation,
                  bool ceil_mode) {
  return max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0];
}

Tensor layer_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias, double eps) {
  return layer_norm_forward(input, normalized_shape, weight, bias, eps)[0];
}

Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight, const char* reduction,
                     int64_t ignore_index, double label_smoothing) {
  if (input.dim() == 2) return cross_entropy_forward(input, target, weight, reduction, ignore_index, label_smoothing);
  FUSELET_CHECK(input.dim() > 0 && input.dim() == target.dim() + 1,
                "cross_entropy: expected logits (N, C), (C) or (N, C, …) and targets without C, got ",
                to_string(input.sizes()), " and ", to_string(target.sizes()));
  if (input.dim() == 1) {
    Tensor loss = cross_entropy_forward(input.unsqueeze(0), target.unsqueeze(0), weight, reduction, ignore_index,
                                        label_smoothing);
    return loss.dim() == 1 ? loss.squeeze(0) : loss;
  }
  Dims expected = {input.sizes()[0]};
  for (SymInt d : input.sizes().subspan(2)) expected.push_back(d);
  FUSELET_CHECK(same_sizes(target.sizes(), expected), "cross_entropy: logits of shape ", to_string(input.sizes()),
                " need targets of shape ", to_string(expected), ", got ", to_string(target.sizes()));
  // (N, C, d…) -> (N, d…, C) -> rows
  Dims order = {0};
  for (int64_t d = 2; d < input.dim(); ++d) order.push_back(d);
  order.push_back(1);
  Tensor rows = input.permute(order).reshape({-1, input.sizes()[1]});
  Tensor loss = cross_entropy_forward(rows, target.reshape({-1}), weight, reduction, ignore_index, label_smoothing);
  return loss.dim() == 1 ? loss.view(target.sizes()) : loss;
}

Tensor mse_loss(const Tensor& input, const Tensor& target, const char* reduction) {
  FUSELET_CHECK(same_sizes(input.sizes(), target.sizes()), "mse_loss: input of shape ", to_string(input.sizes()),
                " and target of shape ", to_string(target.sizes()),
                " must have one shape; expand() the smaller one if that is meant");
  std::string_view how = reduction;
  FUSELET_CHECK(how == "mean" || how == "sum" || how == "none",
                "mse_loss: reduction must be 'mean', 'sum' or 'none', got '", how, "'");
  Tensor difference = input - target;
  // A square of 16 bits overflows long before the mean does.
  DType dtype = difference.dtype();
  if (how != "none" && size_of(dtype) == 2) difference = input.cast(DType::Float32) - target.cast(DType::Float32);
  Tensor errors = square(difference);
  if (how == "none") return errors;
  Tensor loss = how == "mean" ? errors.mean() : errors.sum();
  return loss.dtype() == dtype ? loss : loss.cast(dtype);
}

}  // namespace fuselet::composite
