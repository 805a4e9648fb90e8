// Tensors of tests on a CUDA device and back, with their strides, offsets and shared storages as they are.
#pragma once
#include <map>
#include <vector>

#include "core/tensor.h"

namespace fuselet::test {

// One copy of each storage, for the tensors of one call.
class DeviceCopies {
 public:
  explicit DeviceCopies(Device device) : device_(device) {}
  Tensor operator()(const Tensor& t);

 private:
  Device device_;
  std::map<const Storage*, StoragePtr> known_;
};

// Waits for the device.
Tensor on_host(const Tensor& t);

}  // namespace fuselet::test
