// AvgPool2d and AdaptiveAvgPool2d over images (N, C, H, W); functions/pooling.h has their sizes.
#pragma once
#include "frontend/cpp/nn/functions/pooling.h"
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

// The mean of each window.
class AvgPool2d : public Module {
 public:
  explicit AvgPool2d(Pair kernel_size, const AvgPool2dOptions& options = {});
  Tensor forward(const Tensor& input) override;

 private:
  Pair kernel_size_;
  AvgPool2dOptions options_;
};

// Means of output_size windows that share the plane out; 1: the mean of each plane.
class AdaptiveAvgPool2d : public Module {
 public:
  explicit AdaptiveAvgPool2d(Pair output_size) : Module("AdaptiveAvgPool2d"), output_size_(output_size) {}
  Tensor forward(const Tensor& input) override;

 private:
  Pair output_size_;
};

}  // namespace fuselet::nn
