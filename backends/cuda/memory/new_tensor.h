// A row-major tensor on a device, its elements yet to be written.
#pragma once
#include "core/tensor.h"

namespace fuselet::cuda {

Tensor new_tensor(DimsView sizes, DType dtype, Device device);

}  // namespace fuselet::cuda
