// Images (N, C, H, W) in another size. 16-bit numbers are weighed in float32.
#pragma once
#include <optional>
#include <string>

#include "core/tensor.h"
#include "frontend/cpp/nn/pair.h"

namespace fuselet::nn {

struct InterpolateOptions {
  // One of the two: the output's size, or by how much both directions grow (sizes are rounded down).
  std::optional<Pair> size = std::nullopt;
  std::optional<double> scale_factor = std::nullopt;
  std::string mode = "nearest";  // or "bilinear"
  bool align_corners =
      false;  // for "bilinear": outputs stand at i (in - 1) / (out - 1), not at (i + 0.5) / scale - 0.5
};

namespace functional {

// Error unless exactly one of size and scale_factor is given, for another mode, and where a size is not positive.
Tensor interpolate(const Tensor& input, const InterpolateOptions& options, Location line = Location::current());

}  // namespace functional
}  // namespace fuselet::nn
