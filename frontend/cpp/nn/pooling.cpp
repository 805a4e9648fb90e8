#include "frontend/cpp/nn/pooling.h"

namespace fuselet::nn {

AvgPool2d::AvgPool2d(Pair kernel_size, const AvgPool2dOptions& options)
    : Module("AvgPool2d"), kernel_size_(kernel_size), options_(options) {}
Tensor AvgPool2d::forward(const Tensor& input) { return functional::avg_pool2d(input, kernel_size_, options_); }

Tensor AdaptiveAvgPool2d::forward(const Tensor& input) { return functional::adaptive_avg_pool2d(input, output_size_); }

}  // namespace fuselet::nn
