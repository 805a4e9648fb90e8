#include "backends/cuda/temporaries.h"

#include <cstring>

#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/streams/stream.h"
#include "core/error.h"

namespace fuselet::cuda {

Tensor view_of(const Tensor& t, Dims sizes, Dims strides, int64_t offset) {
  return Tensor(make_intrusive<TensorImpl>(t.impl()->storage(), std::move(sizes), std::move(strides),
                                           t.impl()->offset() + offset, t.dtype()));
}

Tensor dense(const Tensor& t, DType dtype) {
  if (t.is_contiguous() && t.dtype() == dtype) return t;
  Tensor copy = new_tensor(t.sizes(), dtype, t.device());
  copy_into(copy, t);
  return copy;
}

void fill_zero(const Tensor& t) {
  const auto bytes = static_cast<size_t>(t.numel()) * size_of(t.dtype());
  if (bytes == 0) return;
  make_current(t.device().index);
  check(driver().cuMemsetD8Async(address_of(t), 0, bytes, current_stream_handle(t.device().index)), "cuMemsetD8Async");
}

// The driver copies so few bytes out of pageable memory before it returns.
Tensor on_device(const Tensor& t, Device device) {
  if (t.device() == device) return t;
  FUSELET_INTERNAL_CHECK(t.dim() == 0 && t.device().type == DeviceType::CPU, "a tensor of another device");
  Tensor number = new_tensor({}, t.dtype(), device);
  make_current(device.index);
  // From the stack: the driver copies so few bytes of pageable memory before it returns, but reads pinned memory later.
  unsigned char value[8];
  std::memcpy(value, t.impl()->data(), size_of(t.dtype()));
  check(driver().cuMemcpyHtoDAsync(address_of(number), value, size_of(t.dtype()), current_stream_handle(device.index)),
        "cuMemcpyHtoDAsync");
  return number;
}

unsigned long long address_of(const Tensor& t) { return reinterpret_cast<uintptr_t>(t.impl()->data()); }

}  // namespace fuselet::cuda
