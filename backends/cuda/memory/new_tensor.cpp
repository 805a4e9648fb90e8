#include "backends/cuda/memory/new_tensor.h"

namespace fuselet::cuda {

Tensor new_tensor(DimsView sizes, DType dtype, Device device) {
  const auto bytes = static_cast<size_t>(numel_of(sizes).concrete()) * size_of(dtype);
  return Tensor(make_intrusive<TensorImpl>(make_intrusive<Storage>(bytes, device), Dims(sizes),
                                           contiguous_strides(sizes), 0, dtype));
}

}  // namespace fuselet::cuda
