#include "frontend/cpp/nn/functions/resampling.h"

#include <cmath>

#include "frontend/cpp/nn/functions/precision.h"

namespace fuselet::nn::functional {
namespace {

// How one dimension is resampled: `in` entries become `out`; absent scale: out / in.
struct Resampling {
  int64_t in, out;
  std::optional<double> scale;
};

Tensor nearest(const Tensor& x, int64_t dim, const Resampling& r) {
  Tensor at = arange(r.out, std::nullopt, 1, DType::Int64, x.device());
  if (r.scale) {
    at = clamp_max(floor(at.to(DType::Float64) / *r.scale), r.in - 1).to(DType::Int64);
  } else {
    at = floor_divide(at * r.in, r.out);  // in whole numbers: no rounding decides
  }
  return index_select(x, dim, at);
}

Tensor linear_along(const Tensor& x, int64_t dim, const Resampling& r, bool align_corners) {
  const auto in = static_cast<double>(r.in), out = static_cast<double>(r.out);
  Tensor at = arange(0, r.out, 1, DType::Float64, x.device());
  if (align_corners) {
    at = at * (r.out > 1 ? (in - 1) / (out - 1) : 0.0);
  } else {
    at = clamp_min((at + 0.5) * (r.scale ? 1 / *r.scale : in / out) - 0.5, 0);
  }
  Tensor low = floor(at), part = at - low;
  auto weighed = [&](const Tensor& place, const Tensor& weight) {
    Tensor w = weight.to(x.dtype());
    return index_select(x, dim, clamp(place, 0, r.in - 1).to(DType::Int64)) * (dim == 2 ? w.reshape({-1, 1}) : w);
  };
  return weighed(low, 1 - part) + weighed(low + 1, part);
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateOptions& options, Location line) {
  LineScope scope(&line);
  FUSELET_CHECK(input.dim() == 4, "interpolate: expected input (N, C, H, W), got shape ", to_string(input.sizes()));
  FUSELET_CHECK(options.mode == "nearest" || options.mode == "bilinear",
                "interpolate: mode must be 'nearest' or 'bilinear', got '", options.mode, "'");
  FUSELET_CHECK(options.size.has_value() != options.scale_factor.has_value(),
                "interpolate: expected either size or scale_factor");
  FUSELET_CHECK(!options.align_corners || options.mode == "bilinear",
                "interpolate: align_corners means nothing for mode 'nearest'");
  Tensor x = options.mode == "nearest" ? input : widened(input);
  for (size_t d : {0, 1}) {
    const int64_t dim = static_cast<int64_t>(d) + 2, in = input.size(dim);
    const int64_t out = options.size
                            ? (*options.size)[d]
                            : static_cast<int64_t>(std::floor(static_cast<double>(in) * *options.scale_factor));
    FUSELET_CHECK(in > 0 && out > 0, "interpolate: sizes must be positive, got ", in, " and ", out);
    const Resampling r = {in, out, options.scale_factor};
    x = options.mode == "nearest" ? nearest(x, dim, r) : linear_along(x, dim, r, options.align_corners);
  }
  return rounded_as(x, input);
}

}  // namespace fuselet::nn::functional
