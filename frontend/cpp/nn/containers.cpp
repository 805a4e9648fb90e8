#include "frontend/cpp/nn/containers.h"

namespace fuselet::nn {

ParameterList::ParameterList(const std::vector<Tensor>& values) : Module("ParameterList") {
  for (const Tensor& value : values) push_back(value);
}

ParameterList& ParameterList::push_back(Tensor value) {
  FUSELET_CHECK(value.defined(), "ParameterList: a tensor is undefined");
  register_parameter(std::to_string(size()), std::move(value));
  ++*size_;
  return *this;
}

}  // namespace fuselet::nn
