// Conv1d over sequences (N, C, L), and ConvTranspose2d over images (N, C, H, W); conv2d.h has Conv2d. Weights and
// biases start uniform in ±1/sqrt(fan in), fan in being weight.size(1) times the elements of a window.
#pragma once
#include "frontend/cpp/nn/module.h"
#include "frontend/cpp/nn/pair.h"

namespace fuselet::nn {

struct Conv1dOptions {
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
  int64_t groups = 1;  // of channels that see nothing of each other; divides in and out
  bool bias = true;
};

// weight (out, in / groups, K), bias (out)
class Conv1d : public Module {
 public:
  Conv1d(int64_t in_channels, int64_t out_channels, int64_t kernel_size, const Conv1dOptions& options = {});
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const { return parameter("weight"); }
  const Tensor& bias() const { return parameter("bias"); }

 private:
  Conv1dOptions options_;
};

struct ConvTranspose2dOptions {
  Pair stride = 1;
  Pair padding = 0;         // taken off each edge of the output
  Pair output_padding = 0;  // rows and columns more, at the bottom and the right
  int64_t groups = 1;
  bool bias = true;
  Pair dilation = 1;
};

// The gradient of Conv2d by its input, as a layer: weight (in, out / groups, KH, KW), bias (out).
class ConvTranspose2d : public Module {
 public:
  ConvTranspose2d(int64_t in_channels, int64_t out_channels, Pair kernel_size,
                  const ConvTranspose2dOptions& options = {});
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const { return parameter("weight"); }
  const Tensor& bias() const { return parameter("bias"); }

 private:
  ConvTranspose2dOptions options_;
};

}  // namespace fuselet::nn
