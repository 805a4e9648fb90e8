// BatchNorm, InstanceNorm, GroupNorm and RMSNorm. Statistics of 16-bit inputs are float32; each output is scaled and
// shifted by a weight and a bias a channel (RMSNorm: a weight an element), which start as 1 and 0.
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

struct BatchNormOptions {
  double eps = 1e-5;      // added to the variance
  double momentum = 0.1;  // the weight of the newest batch in the running statistics
  bool affine = true;
};

// What BatchNorm1d and BatchNorm2d share. While training, each channel is brought to mean 0 and variance 1 over the
// batch, and the buffers running_mean and running_var move towards the batch's (Ioffe and Szegedy 2015; the variance
// unbiased); in evaluation they are read.
class BatchNorm : public Module {
 public:
  Tensor forward(const Tensor& input) override;
  const Tensor& running_mean() const { return buffer("running_mean"); }
  const Tensor& running_var() const { return buffer("running_var"); }

 protected:
  BatchNorm(std::string kind, int64_t num_features, BatchNormOptions options, std::vector<int64_t> ranks);

 private:
  BatchNormOptions options_;
  std::vector<int64_t> ranks_;
};

// (N, C) or (N, C, L)
struct BatchNorm1d : BatchNorm {
  explicit BatchNorm1d(int64_t num_features, BatchNormOptions options = {})
      : BatchNorm("BatchNorm1d", num_features, options, {2, 3}) {}
};

// (N, C, H, W)
struct BatchNorm2d : BatchNorm {
  explicit BatchNorm2d(int64_t num_features, BatchNormOptions options = {})
      : BatchNorm("BatchNorm2d", num_features, options, {4}) {}
};

struct InstanceNormOptions {
  double eps = 1e-5;      // added to the variance
  double momentum = 0.1;  // the weight of the newest batch in the running statistics
  bool affine = false;
  bool track_running_stats = false;  // keep running_mean and running_var, and read them in evaluation
};

// What InstanceNorm1d and InstanceNorm2d share: each channel of each sample brought to mean 0 and variance 1 (Ulyanov
// et al. 2016). With running statistics, these move towards the mean over the samples of theirs.
class InstanceNorm : public Module {
 public:
  Tensor forward(const Tensor& input) override;

 protected:
  InstanceNorm(std::string kind, int64_t num_features, const InstanceNormOptions& options, int64_t rank);

 private:
  InstanceNormOptions options_;
  int64_t num_features_, rank_;
};

// (N, C, L) with L > 1
struct InstanceNorm1d : InstanceNorm {
  explicit InstanceNorm1d(int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNorm("InstanceNorm1d", num_features, options, 3) {}
};

// (N, C, H, W) of more than one place
struct InstanceNorm2d : InstanceNorm {
  explicit InstanceNorm2d(int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNorm("InstanceNorm2d", num_features, options, 4) {}
};

// (N, C, …): mean and variance over each of num_groups groups of channels of a sample (Wu and He 2018).
class GroupNorm : public Module {
 public:
  GroupNorm(int64_t num_groups, int64_t num_channels, double eps = 1e-5, bool affine = true);
  Tensor forward(const Tensor& input) override;

 private:
  int64_t num_groups_, num_channels_;
  double eps_;
};

// x / sqrt(mean(x²) + eps) * weight over the last dimension (Zhang and Sennrich 2019).
class RMSNorm : public Module {
 public:
  explicit RMSNorm(int64_t size, double eps = 1e-6);
  Tensor forward(const Tensor& input) override;

 private:
  double eps_;
};

}  // namespace fuselet::nn
