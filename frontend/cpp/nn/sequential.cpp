#include "frontend/cpp/nn/sequential.h"

namespace fuselet::nn {

Tensor Sequential::forward(const Tensor& input) {
  Tensor x = input;
  for (const std::shared_ptr<Module>& layer : *layers_) x = layer->forward(x);
  return x;
}

}  // namespace fuselet::nn
