#include "frontend/cpp/nn/init.h"

#include <cmath>

#include "core/ops/functions.h"

namespace fuselet::nn::init {

Tensor uniform_(Tensor t, double low, double high) {
  NoGradGuard no_grad;
  t.copy_(rand(t.sizes(), t.dtype(), t.device()) * (high - low) + low);
  return t;
}

Tensor normal_(Tensor t, double mean, double std) {
  NoGradGuard no_grad;
  t.copy_(randn(t.sizes(), t.dtype(), t.device()) * std + mean);
  return t;
}

Tensor constant_(Tensor t, double value) {
  NoGradGuard no_grad;
  t.copy_(value);
  return t;
}

Tensor zeros_(Tensor t) { return constant_(std::move(t), 0); }
Tensor ones_(Tensor t) { return constant_(std::move(t), 1); }

Fans fans_of(const Tensor& weight) {
  FUSELET_CHECK(weight.dim() >= 2, "init: a weight of shape ", to_string(weight.sizes()),
                " has no fans; expected two dimensions or more");
  int64_t area = 1;
  for (int64_t d = 2; d < weight.dim(); ++d) area *= weight.size(d);
  return {weight.size(1) * area, weight.size(0) * area};
}

Tensor kaiming_uniform_(Tensor t, double a) {
  double bound = std::sqrt(6 / ((1 + a * a) * static_cast<double>(fans_of(t).in)));
  return uniform_(std::move(t), -bound, bound);
}

Tensor kaiming_normal_(Tensor t, double a) {
  double std = std::sqrt(2 / ((1 + a * a) * static_cast<double>(fans_of(t).in)));
  return normal_(std::move(t), 0, std);
}

Tensor xavier_uniform_(Tensor t, double gain) {
  Fans fans = fans_of(t);
  double bound = gain * std::sqrt(6 / static_cast<double>(fans.in + fans.out));
  return uniform_(std::move(t), -bound, bound);
}

}  // namespace fuselet::nn::init
