#include "frontend/cpp/nn/convolutions.h"

#include <cmath>

#include "frontend/cpp/nn/functional.h"
#include "frontend/cpp/nn/init.h"

namespace fuselet::nn {
namespace {

// Registers weight and bias with their starting values.
void add_window(Module& layer, IntList shape, int64_t outputs, bool bias) {
  Tensor weight = init::kaiming_uniform_(empty(shape), std::sqrt(5.0));
  const double bound = 1 / std::sqrt(static_cast<double>(init::fans_of(weight).in));
  layer.register_parameter("weight", weight);
  layer.register_parameter("bias", bias ? init::uniform_(empty({outputs}), -bound, bound) : Tensor());
}

void check_channels(const Module& layer, int64_t in, int64_t out, int64_t groups) {
  FUSELET_CHECK(in > 0 && out > 0 && groups > 0 && in % groups == 0 && out % groups == 0, layer.kind(), ": ", groups,
                " groups must divide ", in, " and ", out, " channels, all positive");
}

}  // namespace

Conv1d::Conv1d(int64_t in_channels, int64_t out_channels, int64_t kernel_size, const Conv1dOptions& options)
    : Module("Conv1d"), options_(options) {
  check_channels(*this, in_channels, out_channels, options.groups);
  FUSELET_CHECK(kernel_size > 0, "Conv1d: expected a positive kernel size, got ", kernel_size);
  add_window(*this, {out_channels, in_channels / options.groups, kernel_size}, out_channels, options.bias);
}

Tensor Conv1d::forward(const Tensor& input) {
  const Conv1dOptions& o = options_;
  return functional::conv1d(input, weight(), bias(), o.stride, o.padding, o.dilation, o.groups);
}

ConvTranspose2d::ConvTranspose2d(int64_t in_channels, int64_t out_channels, Pair kernel_size,
                                 const ConvTranspose2dOptions& options)
    : Module("ConvTranspose2d"), options_(options) {
  check_channels(*this, in_channels, out_channels, options.groups);
  FUSELET_CHECK(kernel_size.height() > 0 && kernel_size.width() > 0,
                "ConvTranspose2d: expected a positive kernel size, got ", kernel_size.height(), "x",
                kernel_size.width());
  add_window(*this, {in_channels, out_channels / options.groups, kernel_size.height(), kernel_size.width()},
             out_channels, options.bias);
}

Tensor ConvTranspose2d::forward(const Tensor& input) {
  const ConvTranspose2dOptions& o = options_;
  return functional::conv_transpose2d(input, weight(), bias(), o.stride, o.padding, o.output_padding, o.groups,
                                      o.dilation);
}

}  // namespace fuselet::nn
