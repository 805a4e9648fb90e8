#include "frontend/cpp/nn/normalizations.h"

#include <algorithm>

#include "core/ops/functions.h"

namespace fuselet::nn {
namespace {

Tensor wide(const Tensor& x) { return size_of(x.dtype()) == 2 ? x.cast(DType::Float32) : x; }

// One value a channel, shaped for an input of `rank` dimensions.
Tensor along_channels(const Tensor& values, int64_t rank) {
  Dims shape(static_cast<size_t>(rank), SymInt(1));
  shape[1] = -1;
  return wide(values).view(shape);
}

Tensor scaled(Tensor x, const Tensor& weight, const Tensor& bias, DType dtype) {
  if (weight.defined()) x = x * along_channels(weight, x.dim());
  if (bias.defined()) x = x + along_channels(bias, x.dim());
  return x.dtype() == dtype ? x : x.cast(dtype);
}

void add_affine(Module& module, int64_t size, bool affine) {
  module.register_parameter("weight", affine ? ones({size}) : Tensor());
  module.register_parameter("bias", affine ? zeros({size}) : Tensor());
}

void add_running(Module& module, int64_t size, bool present) {
  module.register_buffer("running_mean", present ? zeros({size}) : Tensor());
  module.register_buffer("running_var", present ? ones({size}) : Tensor());
  module.register_buffer("num_batches_tracked", present ? zeros({}, DType::Int64) : Tensor());
}

void move(Tensor running, const Tensor& value, double momentum) {
  running.copy_(running * (1 - momentum) + value * momentum);
}

}  // namespace

BatchNorm::BatchNorm(std::string kind, int64_t num_features, BatchNormOptions options, std::vector<int64_t> ranks)
    : Module(std::move(kind)), options_(options), ranks_(std::move(ranks)) {
  add_affine(*this, num_features, options.affine);
  add_running(*this, num_features, true);
}

Tensor BatchNorm::forward(const Tensor& input) {
  FUSELET_CHECK(std::find(ranks_.begin(), ranks_.end(), input.dim()) != ranks_.end(), kind(), ": got shape ",
                to_string(input.sizes()));
  Tensor x = wide(input), average, variance;
  if (is_training()) {
    Dims over = {SymInt(0)};
    for (int64_t d = 2; d < x.dim(); ++d) over.push_back(SymInt(d));
    average = mean(x, over, true);
    variance = var(x, over, 0, true);
    NoGradGuard no_grad;
    move(running_mean(), average.detach().view({-1}), options_.momentum);
    move(running_var(), var(x.detach(), over, 1), options_.momentum);
    Tensor batches = buffer("num_batches_tracked");
    batches.add_(1);
  } else {
    average = along_channels(running_mean(), x.dim());
    variance = along_channels(running_var(), x.dim());
  }
  return scaled((x - average) * rsqrt(variance + options_.eps), parameter("weight"), parameter("bias"), input.dtype());
}

InstanceNorm::InstanceNorm(std::string kind, int64_t num_features, const InstanceNormOptions& options, int64_t rank)
    : Module(std::move(kind)), options_(options), num_features_(num_features), rank_(rank) {
  FUSELET_CHECK(num_features > 0, this->kind(), ": expected a positive number of channels, got ", num_features);
  add_affine(*this, num_features, options.affine);
  add_running(*this, num_features, options.track_running_stats);
}

Tensor InstanceNorm::forward(const Tensor& input) {
  FUSELET_CHECK(input.dim() == rank_ && input.size(1) == num_features_, kind(), ": expected ", rank_,
                " dimensions, the second of ", num_features_, " channels, got shape ", to_string(input.sizes()));
  Tensor x = wide(input), average, variance;
  if (is_training() || !options_.track_running_stats) {
    Dims over;
    int64_t places = 1;
    for (int64_t d = 2; d < rank_; ++d) over.push_back(SymInt(d)), places *= x.size(d);
    FUSELET_CHECK(places > 1, kind(), ": expected more than one place a channel, got shape ", to_string(input.sizes()));
    average = mean(x, over, true);
    variance = var(x, over, 0, true);
    if (options_.track_running_stats) {
      NoGradGuard no_grad;
      move(buffer("running_mean"), mean(average.detach().reshape({-1, num_features_}), {0}), options_.momentum);
      move(buffer("running_var"), mean(var(x.detach(), over, 1), {0}), options_.momentum);
    }
  } else {
    average = along_channels(buffer("running_mean"), rank_);
    variance = along_channels(buffer("running_var"), rank_);
  }
  return scaled((x - average) * rsqrt(variance + options_.eps), parameter("weight"), parameter("bias"), input.dtype());
}

GroupNorm::GroupNorm(int64_t num_groups, int64_t num_channels, double eps, bool affine)
    : Module("GroupNorm"), num_groups_(num_groups), num_channels_(num_channels), eps_(eps) {
  FUSELET_CHECK(num_groups > 0 && num_channels % num_groups == 0, "GroupNorm: ", num_groups, " groups must divide ",
                num_channels, " channels");
  add_affine(*this, num_channels, affine);
}

Tensor GroupNorm::forward(const Tensor& input) {
  FUSELET_CHECK(input.dim() >= 2 && input.size(1) == num_channels_, "GroupNorm: expected ", num_channels_,
                " channels, got shape ", to_string(input.sizes()));
  Tensor x = wide(input).reshape({input.size(0), num_groups_, -1});
  Tensor normalized = (x - mean(x, {2}, true)) * rsqrt(var(x, {2}, 0, true) + eps_);
  return scaled(normalized.reshape(input.sizes()), parameter("weight"), parameter("bias"), input.dtype());
}

RMSNorm::RMSNorm(int64_t size, double eps) : Module("RMSNorm"), eps_(eps) {
  register_parameter("weight", ones({size}));
}

Tensor RMSNorm::forward(const Tensor& input) {
  Tensor x = wide(input);
  Tensor y = x * rsqrt(mean(x * x, {-1}, true) + eps_) * wide(parameter("weight"));
  return y.dtype() == input.dtype() ? y : y.cast(input.dtype());
}

}  // namespace fuselet::nn
