#include "frontend/cpp/nn/conv2d.h"

#include <cmath>

#include "core/ops/functions.h"
#include "frontend/cpp/nn/init.h"

namespace fuselet::nn {

Conv2d::Conv2d(int64_t in_channels, int64_t out_channels, Pair kernel_size, const Conv2dOptions& options)
    : Module("Conv2d"), options_(options) {
  FUSELET_CHECK(in_channels > 0 && out_channels > 0 && kernel_size.height() > 0 && kernel_size.width() > 0,
                "Conv2d: expected positive channels and kernel size, got ", in_channels, ", ", out_channels, " and ",
                kernel_size.height(), "x", kernel_size.width());
  FUSELET_CHECK(options.groups > 0 && in_channels % options.groups == 0 && out_channels % options.groups == 0,
                "Conv2d: ", options.groups, " groups must divide ", in_channels, " and ", out_channels, " channels");
  Tensor weight = empty({out_channels, in_channels / options.groups, kernel_size.height(), kernel_size.width()});
  register_parameter("weight", init::kaiming_uniform_(weight, std::sqrt(5.0)));
  double bound = 1 / std::sqrt(static_cast<double>(init::fans_of(weight).in));
  register_parameter("bias", options.bias ? init::uniform_(empty({out_channels}), -bound, bound) : Tensor());
}

Tensor Conv2d::forward(const Tensor& input) {
  return conv2d(input, weight(), bias(), {options_.stride.height(), options_.stride.width()},
                {options_.padding.height(), options_.padding.width()},
                {options_.dilation.height(), options_.dilation.width()}, options_.groups);
}

MaxPool2d::MaxPool2d(Pair kernel_size, const MaxPool2dOptions& options)
    : Module("MaxPool2d"), kernel_size_(kernel_size), options_(options) {}

Tensor MaxPool2d::forward(const Tensor& input) {
  Pair stride = options_.stride.value_or(kernel_size_);
  return max_pool2d(input, {kernel_size_.height(), kernel_size_.width()}, {stride.height(), stride.width()},
                    {options_.padding.height(), options_.padding.width()});
}

}  // namespace fuselet::nn
