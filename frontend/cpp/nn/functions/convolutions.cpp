#include "frontend/cpp/nn/functions/convolutions.h"

#include <algorithm>

#include "core/ops/functions.h"

namespace fuselet::nn::functional {
namespace {

// Entries [start, start + length) of a dimension, zeros beyond its end.
Tensor stretch(const Tensor& x, int64_t dim, int64_t start, int64_t length) {
  const int64_t present = std::min(length, x.size(dim) - start);
  Tensor kept = narrow(x, dim, start, present);
  if (present == length) return kept;
  Dims rest(x.sizes());
  rest[static_cast<size_t>(dim)] = SymInt(length - present);
  return cat({kept, zeros(rest, x.dtype(), x.device())}, dim);
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t stride, int64_t padding,
              int64_t dilation, int64_t groups, Location line) {
  LineScope scope(&line);
  FUSELET_CHECK(input.dim() == 3 && weight.dim() == 3,
                "conv1d: expected input (N, C, L) and weight (O, C / groups, K), got ", to_string(input.sizes()),
                " and ", to_string(weight.sizes()));
  return squeeze(
      conv2d(unsqueeze(input, 2), unsqueeze(weight, 2), bias, {1, stride}, {0, padding}, {1, dilation}, groups), 2);
}

Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias, Pair stride, Pair padding,
                        Pair output_padding, int64_t groups, Pair dilation, Location line) {
  LineScope scope(&line);
  FUSELET_CHECK(input.dim() == 4 && weight.dim() == 4 && input.size(1) == weight.size(0) && groups > 0 &&
                    weight.size(0) % groups == 0,
                "conv_transpose2d: expected input (N, C, H, W) and weight (C, O / groups, KH, KW), got ",
                to_string(input.sizes()), " and ", to_string(weight.sizes()), " with ", groups, " groups");
  const int64_t outputs = weight.size(1) * groups;
  FUSELET_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == outputs),
                "conv_transpose2d: expected a bias of ", outputs, " elements, got shape ",
                bias.defined() ? to_string(bias.sizes()) : "");
  int64_t size[2], whole[2];
  bool fits = true;
  for (size_t d : {0, 1}) {
    const int64_t extra = output_padding[d], at = static_cast<int64_t>(d) + 2;
    FUSELET_CHECK(extra >= 0 && extra < std::max(stride[d], dilation[d]),
                  "conv_transpose2d: output_padding must be smaller than stride or dilation, got ", extra);
    whole[d] = (input.size(at) - 1) * stride[d] + dilation[d] * (weight.size(at) - 1) + 1;
    size[d] = whole[d] - 2 * padding[d] + extra;
    FUSELET_CHECK(size[d] > 0, "conv_transpose2d: input of shape ", to_string(input.sizes()), " gives the size ",
                  size[d]);
    fits &= extra < stride[d];
  }
  Tensor out;
  if (fits) {
    out = conv2d_input_grad(input, weight, {input.size(0), outputs, size[0], size[1]}, {stride[0], stride[1]},
                            {padding[0], padding[1]}, {dilation[0], dilation[1]}, groups);
  } else {
    // A convolution of that size would have another place more: all that there is, then cut and filled up.
    out = conv2d_input_grad(input, weight, {input.size(0), outputs, whole[0], whole[1]}, {stride[0], stride[1]}, {0, 0},
                            {dilation[0], dilation[1]}, groups);
    out = stretch(stretch(out, 2, padding[0], size[0]), 3, padding[1], size[1]);
  }
  return bias.defined() ? out + bias.reshape({-1, 1, 1}) : out;
}

}  // namespace fuselet::nn::functional
