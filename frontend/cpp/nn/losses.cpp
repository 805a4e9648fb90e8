#include "frontend/cpp/nn/losses.h"

#include "core/ops/functions.h"

namespace fuselet::nn {

CrossEntropyLoss::CrossEntropyLoss(CrossEntropyOptions options)
    : Module("CrossEntropyLoss"), options_(std::move(options)) {
  if (options_.weight.defined()) register_buffer("weight", options_.weight);
}

Tensor CrossEntropyLoss::operator()(const Tensor& input, const Tensor& target, Location line) {
  LineScope scope(&line);
  return cross_entropy(input, target, options_.weight, options_.reduction.c_str(), options_.ignore_index,
                       options_.label_smoothing);
}

Tensor MSELoss::operator()(const Tensor& input, const Tensor& target, Location line) {
  LineScope scope(&line);
  return mse_loss(input, target, reduction_.c_str());
}

}  // namespace fuselet::nn
