#include "backends/cuda/memory/copies.h"

#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/index_failures.h"
#include "backends/cuda/memory/device_memory.h"
#include "backends/cuda/memory/new_tensor.h"
#include "backends/cuda/memory/pinned_memory.h"
#include "backends/cuda/streams/event.h"
#include "backends/cuda/streams/stream.h"
#include "core/copy_across.h"
#include "core/dispatch.h"
#include "core/ops/functions.h"

namespace fuselet::cuda {
namespace {

DevicePtr address_of(const void* p) { return reinterpret_cast<DevicePtr>(p); }

// Ends the copy that `stream` has just been given, or leaves it running and remembers the pinned block that it uses.
void finish_host_copy(const void* host, int device, StreamHandle stream, bool non_blocking) {
  const bool pinned = is_pinned_address(host);
  if (pinned) pinned_memory().record_use(host, device, stream);
  if (pinned && non_blocking) return;
  check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
  raise_index_failure(device);
}

// Between two devices: behind the earlier work of both streams, before the later work of both.
void copy_between(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  const Stream source = current_stream(from_device), target = current_stream(to_device);
  source.wait_stream(target);
  make_current(from_device);
  check(driver().cuMemcpyDtoDAsync(address_of(to), address_of(from), bytes, source.handle()), "cuMemcpyDtoDAsync");
  target.wait_stream(source);
}

// True iff the elements of both lie in one run of memory, in the same order.
bool same_dense_layout(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !same_sizes(a.sizes(), b.sizes())) return false;
  if (a.is_contiguous() && b.is_contiguous()) return true;
  return same_sizes(a.strides(), b.strides()) && span_of(a.sizes(), a.strides()) == a.numel() &&
         !has_overlap(a.sizes(), a.strides());
}

}  // namespace

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes, bool non_blocking) {
  if (bytes == 0) return;
  const bool from_host = from_device.type == DeviceType::CPU, to_host = to_device.type == DeviceType::CPU;
  if (!from_host && !to_host) {
    if (from_device != to_device) return copy_between(to, to_device.index, from, from_device.index, bytes);
    make_current(to_device.index);
    check(driver().cuMemcpyDtoDAsync(address_of(to), address_of(from), bytes, current_stream_handle(to_device.index)),
          "cuMemcpyDtoDAsync");
    return;
  }
  const int device = from_host ? to_device.index : from_device.index;
  const StreamHandle stream = current_stream_handle(device);
  make_current(device);
  if (from_host) {
    check(driver().cuMemcpyHtoDAsync(address_of(to), from, bytes, stream), "cuMemcpyHtoDAsync");
  } else {
    check(driver().cuMemcpyDtoHAsync(to, address_of(from), bytes, stream), "cuMemcpyDtoHAsync");
  }
  finish_host_copy(from_host ? from : to, device, stream, non_blocking);
}

void copy_tensor_across(const Tensor& to, const Tensor& from, bool non_blocking) {
  if (to.numel() == 0) return;
  if (same_dense_layout(to, from)) {
    const size_t bytes = static_cast<size_t>(to.numel()) * size_of(to.dtype());
    return copy_bytes(to.impl()->data(), to.device(), from.impl()->data(), from.device(), bytes, non_blocking);
  }
  NoGradGuard no_grad;
  // Converted on the side where fewer bytes are to be moved.
  const bool narrows = size_of(to.dtype()) < size_of(from.dtype());
  const Tensor dense = (narrows ? from.to(to.dtype()) : from).contiguous();
  if (to.is_contiguous() && same_dense_layout(to, dense)) return copy_tensor_across(to, dense, non_blocking);
  Tensor staged = new_tensor(dense.sizes(), dense.dtype(), to.device());
  copy_tensor_across(staged, dense, false);
  Tensor target = to;
  target.copy_(staged);
}

void copy_non_blocking(Tensor to, const Tensor& from) {
  const DispatchState& state = dispatch_state();
  const bool recorded = state.layers != 0 || (state.grad_enabled && (to.requires_grad() || from.requires_grad()));
  const char* reason = reason_not_writable(to);
  if (recorded || reason || to.device() == from.device() || to.impl()->is_deferred() || from.impl()->is_deferred()) {
    to.copy_(from);
    return;
  }
  (void)from.expand(to.sizes());  // an error if it does not fit
  copy_across(to, from, true);
  to.impl()->storage()->bump_version();
}

Tensor pin_memory(const Tensor& t) {
  FUSELET_CHECK(t.device().type == DeviceType::CPU, "pin_memory: only tensors on the CPU can be pinned, got ",
                to_string(t.device()));
  if (is_pinned(t)) return t;
  void* memory = nullptr;
  const size_t bytes = static_cast<size_t>(t.numel()) * size_of(t.dtype());
  if (bytes > 0) memory = pinned_memory().allocate(bytes);
  auto release = [memory] {
    if (memory && !is_shutting_down()) pinned_memory().deallocate(memory);
  };
  auto storage = make_intrusive<Storage>(memory, bytes, Device{}, release);
  Tensor pinned(make_intrusive<TensorImpl>(std::move(storage), Dims(t.sizes()),
                                           strides_like(Dims(t.sizes()), t.sizes(), t.strides()), 0, t.dtype()));
  NoGradGuard no_grad;
  pinned.copy_(t.detach());
  return pinned;
}

bool is_pinned(const Tensor& t) {
  return t.device().type == DeviceType::CPU && t.numel() > 0 && is_pinned_address(t.raw_data());
}

void record_stream(const Tensor& t, const Stream& stream) {
  FUSELET_CHECK(t.is_cuda(), "record_stream: expected a tensor on a CUDA device, got one on ", to_string(t.device()));
  FUSELET_CHECK(stream.device() == t.device().index, "record_stream: the tensor is on ", to_string(t.device()),
                ", the stream on cuda:", stream.device());
  if (const void* block = t.impl()->storage()->data()) {
    caching_allocator(t.device().index).record_stream(address_of(block), stream.handle());
  }
}

}  // namespace fuselet::cuda
