// Temporaries of kernels: results on the way, other views of a memory, row-major copies. Everything runs on the
// thread's current stream of the tensors' device.
#pragma once
#include "backends/cuda/eager/strided_copy.h"
#include "backends/cuda/memory/new_tensor.h"

namespace fuselet::cuda {

// The same memory, seen as told; `offset` in elements from the tensor's first.
Tensor view_of(const Tensor& t, Dims sizes, Dims strides, int64_t offset = 0);
// `t` itself, or a copy, row-major and of that dtype.
Tensor dense(const Tensor& t, DType dtype);
// Zero bytes in all of a row-major tensor.
void fill_zero(const Tensor& t);

// A number that lies on the host, as a tensor of the device; else `t` itself, which is there.
Tensor on_device(const Tensor& t, Device device);

// The address of a tensor's first element.
unsigned long long address_of(const Tensor& t);

}  // namespace fuselet::cuda
