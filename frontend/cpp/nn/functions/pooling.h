// Means of windows of images (N, C, H, W). 16-bit numbers are summed in float32. max_pool2d is an operator.
#pragma once
#include <optional>

#include "core/tensor.h"
#include "frontend/cpp/nn/pair.h"

namespace fuselet::nn {

struct AvgPool2dOptions {
  std::optional<Pair> stride = std::nullopt;               // absent: the kernel size
  Pair padding = 0;                                        // with zeros; at most half the kernel size
  bool ceil_mode = false;                                  // also windows that begin inside and reach over the edge
  bool count_include_pad = true;                           // whether zeros of the padding count as elements of a mean
  std::optional<int64_t> divisor_override = std::nullopt;  // divides instead of the number of elements
};

namespace functional {

// Mean of each window: (N, C, H', W') with H' = floor((H + 2 padding - kernel) / stride) + 1.
Tensor avg_pool2d(const Tensor& input, Pair kernel_size, const AvgPool2dOptions& options = {},
                  Location line = Location::current());

// Means of output_size windows that share the plane out: window i of O over H entries is
// [floor(i H / O), ceil((i + 1) H / O)).
Tensor adaptive_avg_pool2d(const Tensor& input, Pair output_size, Location line = Location::current());

}  // namespace functional
}  // namespace fuselet::nn
