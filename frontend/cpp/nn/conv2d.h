// Conv2d and MaxPool2d over images (N, C, H, W). A size, stride or padding is one number or a pair (height, width).
#pragma once
#include "frontend/cpp/nn/module.h"
#include "frontend/cpp/nn/pair.h"

namespace fuselet::nn {

struct Conv2dOptions {
  Pair stride = 1;
  Pair padding = 0;
  Pair dilation = 1;
  int64_t groups = 1;  // of channels that see nothing of each other; divides in and out
  bool bias = true;
};

class Conv2d : public Module {
 public:
  // Weight (out, in / groups, KH, KW) and bias (out) start uniform in ±1/sqrt(in / groups KH KW).
  // By reference: GCC 12 with -march=native hands on a wrong copy of options that are a temporary (padding = stride).
  Conv2d(int64_t in_channels, int64_t out_channels, Pair kernel_size, const Conv2dOptions& options = {});
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const { return parameter("weight"); }
  const Tensor& bias() const { return parameter("bias"); }

 private:
  Conv2dOptions options_;
};

struct MaxPool2dOptions {
  std::optional<Pair> stride = std::nullopt;  // absent: the kernel size
  Pair padding = 0;
};

class MaxPool2d : public Module {
 public:
  explicit MaxPool2d(Pair kernel_size, const MaxPool2dOptions& options = {});
  Tensor forward(const Tensor& input) override;

 private:
  Pair kernel_size_;
  MaxPool2dOptions options_;
};

}  // namespace fuselet::nn
