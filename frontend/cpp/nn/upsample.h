// Upsample: images (N, C, H, W) in another size, by the nearest entry or by a bilinear mean of four.
#pragma once
#include "frontend/cpp/nn/functions/resampling.h"
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

class Upsample : public Module {
 public:
  explicit Upsample(const InterpolateOptions& options) : Module("Upsample"), options_(options) {}
  Tensor forward(const Tensor& input) override;

 private:
  InterpolateOptions options_;
};

}  // namespace fuselet::nn
