#include "frontend/cpp/nn/upsample.h"

namespace fuselet::nn {

Tensor Upsample::forward(const Tensor& input) { return functional::interpolate(input, options_); }

}  // namespace fuselet::nn
