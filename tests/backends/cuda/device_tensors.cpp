#include "tests/backends/cuda/device_tensors.h"

#include "backends/cuda/device/devices.h"
#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/streams/stream.h"

namespace fuselet::test {
namespace {

Tensor over(const Tensor& t, StoragePtr storage) {
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), Dims(t.sizes()), Dims(t.strides()), t.impl()->offset(),
                                           t.dtype()));
}

}  // namespace

Tensor DeviceCopies::operator()(const Tensor& t) {
  const StoragePtr& from = t.impl()->storage();
  StoragePtr& to = known_[from.get()];
  if (!to) {
    to = make_intrusive<Storage>(from->bytes(), device_);
    if (from->bytes() > 0) {
      cuda::make_current(device_.index);
      cuda::check(cuda::driver().cuMemcpyHtoDAsync(reinterpret_cast<cuda::DevicePtr>(to->data()), from->data(),
                                                   from->bytes(), cuda::current_stream_handle(device_.index)),
                  "cuMemcpyHtoDAsync");
      cuda::current_stream(device_.index).synchronize();
    }
  }
  return over(t, to);
}

Tensor on_host(const Tensor& t) {
  const StoragePtr& from = t.impl()->storage();
  auto to = make_intrusive<Storage>(from->bytes(), Device{});
  const int device = t.device().index;
  if (from->bytes() > 0) {
    cuda::make_current(device);
    cuda::check(cuda::driver().cuMemcpyDtoHAsync(to->data(), reinterpret_cast<cuda::DevicePtr>(from->data()),
                                                 from->bytes(), cuda::current_stream_handle(device)),
                "cuMemcpyDtoHAsync");
    cuda::current_stream(device).synchronize();
  }
  return over(t, std::move(to));
}

}  // namespace fuselet::test
