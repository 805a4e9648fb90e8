// Linear: x (…, in) times weight (out, in) transposed, plus bias (out).
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

class Linear : public Module {
 public:
  // Weight and bias start uniform in ±1/sqrt(in).
  Linear(int64_t in_features, int64_t out_features, bool bias = true);
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const { return parameter("weight"); }
  // Undefined without bias.
  const Tensor& bias() const { return parameter("bias"); }
};

}  // namespace fuselet::nn
