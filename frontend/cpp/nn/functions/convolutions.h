// Convolutions that are made of conv2d, the operator: over one dimension, and transposed.
#pragma once
#include "core/tensor.h"
#include "frontend/cpp/nn/pair.h"

namespace fuselet::nn::functional {

// Cross-correlation of input (N, C, L) with weight (O, C / groups, K), plus bias (O): (N, O, L') with
// L' = floor((L + 2 padding - dilation (K - 1) - 1) / stride) + 1.
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, int64_t stride = 1,
              int64_t padding = 0, int64_t dilation = 1, int64_t groups = 1, Location line = Location::current());

// The gradient of conv2d for its input, as a layer: input (N, C, H, W), weight (C, O / groups, KH, KW), bias (O) ->
// (N, O, H', W') with H' = (H - 1) stride - 2 padding + dilation (KH - 1) + output_padding + 1. Error unless
// output_padding is smaller than stride or dilation.
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, Pair stride = 1,
                        Pair padding = 0, Pair output_padding = 0, int64_t groups = 1, Pair dilation = 1,
                        Location line = Location::current());

}  // namespace fuselet::nn::functional
