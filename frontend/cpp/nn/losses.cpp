#include "frontend/cpp/nn/losses.h"

#include "frontend/cpp/nn/functional.h"

namespace fuselet::nn {

namespace F = functional;

Loss::Loss(std::string kind, std::string reduction) : Module(std::move(kind)), reduction_(std::move(reduction)) {
  F::check_reduction(this->kind().c_str(), reduction_);
}

Tensor Loss::operator()(const Tensor& input, const Tensor& target, Location line) {
  LineScope scope(&line);
  return value(input, target);
}

CrossEntropyLoss::CrossEntropyLoss(const CrossEntropyOptions& options)
    : Loss("CrossEntropyLoss", options.reduction),
      ignore_index_(options.ignore_index),
      label_smoothing_(options.label_smoothing) {
  register_buffer("weight", options.weight);
}
Tensor CrossEntropyLoss::value(const Tensor& input, const Tensor& target) const {
  return cross_entropy(input, target, buffer("weight"), reduction().c_str(), ignore_index_, label_smoothing_);
}

NLLLoss::NLLLoss(const NLLOptions& options) : Loss("NLLLoss", options.reduction), ignore_index_(options.ignore_index) {
  register_buffer("weight", options.weight);
}
Tensor NLLLoss::value(const Tensor& input, const Tensor& target) const {
  return F::nll_loss(input, target, buffer("weight"), reduction(), ignore_index_);
}

Tensor MSELoss::value(const Tensor& input, const Tensor& target) const {
  return mse_loss(input, target, reduction().c_str());
}

Tensor L1Loss::value(const Tensor& input, const Tensor& target) const { return F::l1_loss(input, target, reduction()); }

Tensor SmoothL1Loss::value(const Tensor& input, const Tensor& target) const {
  return F::smooth_l1_loss(input, target, reduction(), beta_);
}

HuberLoss::HuberLoss(std::string reduction, double delta) : Loss("HuberLoss", std::move(reduction)), delta_(delta) {
  FUSELET_CHECK(delta > 0, "HuberLoss: delta must be positive, got ", delta);
}
Tensor HuberLoss::value(const Tensor& input, const Tensor& target) const {
  return F::huber_loss(input, target, reduction(), delta_);
}

BCELoss::BCELoss(const BCEOptions& options) : Loss("BCELoss", options.reduction) {
  register_buffer("weight", options.weight);
}
Tensor BCELoss::value(const Tensor& input, const Tensor& target) const {
  return F::binary_cross_entropy(input, target, buffer("weight"), reduction());
}

BCEWithLogitsLoss::BCEWithLogitsLoss(const BCEWithLogitsOptions& options)
    : Loss("BCEWithLogitsLoss", options.reduction) {
  register_buffer("weight", options.weight);
  register_buffer("pos_weight", options.pos_weight);
}
Tensor BCEWithLogitsLoss::value(const Tensor& input, const Tensor& target) const {
  return F::binary_cross_entropy_with_logits(input, target, buffer("weight"), reduction(), buffer("pos_weight"));
}

KLDivLoss::KLDivLoss(std::string reduction, bool log_target)
    : Loss("KLDivLoss", reduction == "batchmean" ? "sum" : reduction),
      is_batchmean_(reduction == "batchmean"),
      log_target_(log_target) {}
Tensor KLDivLoss::value(const Tensor& input, const Tensor& target) const {
  return F::kl_div(input, target, is_batchmean_ ? "batchmean" : reduction(), log_target_);
}

}  // namespace fuselet::nn
