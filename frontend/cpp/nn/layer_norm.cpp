#include "frontend/cpp/nn/layer_norm.h"

#include "core/ops/functions.h"

namespace fuselet::nn {

LayerNorm::LayerNorm(IntList normalized_shape, LayerNormOptions options)
    : Module("LayerNorm"), normalized_shape_(normalized_shape.view()), eps_(options.eps) {
  FUSELET_CHECK(!normalized_shape_.empty(), "LayerNorm: expected at least one dimension");
  register_parameter("weight", options.elementwise_affine ? ones(normalized_shape_) : Tensor());
  register_parameter("bias", options.elementwise_affine && options.bias ? zeros(normalized_shape_) : Tensor());
}

Tensor LayerNorm::forward(const Tensor& input) { return layer_norm(input, normalized_shape_, weight(), bias(), eps_); }

}  // namespace fuselet::nn
