// LayerNorm: each slice over the trailing dimensions brought to mean 0 and variance 1, then scaled and shifted by
// learned tensors of that shape (Ba et al. 2016).
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

struct LayerNormOptions {
  double eps = 1e-5;  // added to the variance
  bool elementwise_affine = true;
  bool bias = true;
};

class LayerNorm : public Module {
 public:
  explicit LayerNorm(IntList normalized_shape, LayerNormOptions options = {});
  explicit LayerNorm(std::initializer_list<SymInt> normalized_shape, LayerNormOptions options = {})
      : LayerNorm(IntList(normalized_shape), options) {}
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const { return parameter("weight"); }
  const Tensor& bias() const { return parameter("bias"); }

 private:
  Dims normalized_shape_;
  double eps_;
};

}  // namespace fuselet::nn
