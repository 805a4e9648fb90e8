// What an eager call looks like: its tensors, and a text that is equal for calls that one executable serves.
#pragma once
#include <string>
#include <vector>

#include "core/dispatch.h"

namespace fuselet::cuda {

struct OperatorKey {
  std::string text;              // bytes, not for reading
  std::vector<Tensor> inputs;    // each once, on the device
  std::vector<int32_t> order;    // inputs by tensor argument, lists flattened
  std::vector<double> scalars;   // numbers that are not part of the text, in order of arguments
  bool writes_in_place = false;  // the targets of an in-place call can be written by the kernels that read them
  std::vector<int32_t> targets;  // inputs of an in-place call that are written
};

// Whether a number given to the operator is an input of its executable. Not where shapes follow from it.
bool is_input(const Call& call, const Arg& number);

OperatorKey key_of(const Call& call, Device device, const TensorMeta* results);

}  // namespace fuselet::cuda
