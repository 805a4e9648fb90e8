// Device and pinned memory, copies and fills.
//
// Copies between device and pinned memory read and write the host's side when they run. Pageable memory is as CUDA
// documents: on the way to the device its bytes are taken at the call; on the way back the call returns when they are
// there.
#include <cstdlib>
#include <cstring>

#include "backends/cuda_sim/driver/fill_tables.h"
#include "backends/cuda_sim/memory/device_memory.h"
#include "backends/cuda_sim/memory/pinned_ranges.h"
#include "backends/cuda_sim/order/costs.h"
#include "backends/cuda_sim/order/graph.h"
#include "backends/cuda_sim/report/report.h"

namespace fuselet::cuda::sim {

namespace {

bool is_pinned(const void* memory, size_t bytes) { return sim::is_pinned(reinterpret_cast<uintptr_t>(memory), bytes); }

std::shared_ptr<const std::string> text(const char* what) { return std::make_shared<const std::string>(what); }

Result mem_alloc(DevicePtr* memory, size_t bytes) {
  Call call;
  if (Result refused = call.refused()) return refused;
  if (Result refused = refuse_during_capture()) return refused;
  return allocate_memory(bytes, memory);
}

Result mem_free(DevicePtr memory) {
  Call call;
  if (Result refused = refuse_during_capture()) return refused;
  if (memory == 0) return kSuccess;
  wait_for_all();
  Result result = free_memory(memory);
  return call.refused() ? call.refused() : result;
}

Result mem_get_info(size_t* free, size_t* total) {
  Call call;
  memory_info(free, total);
  return call.refused();
}

Result mem_host_alloc(void** memory, size_t bytes, unsigned) {
  Call call;
  if (Result refused = call.refused()) return refused;
  if (Result refused = refuse_during_capture()) return refused;
  if (memory == nullptr || bytes == 0) return kErrorInvalidValue;
  if (posix_memalign(memory, 4096, bytes) != 0) return kErrorOutOfMemory;
  add_pinned(reinterpret_cast<uintptr_t>(*memory), bytes);
  return kSuccess;
}

Result mem_free_host(void* memory) {
  Call call;
  if (Result refused = refuse_during_capture()) return refused;
  if (!is_pinned(memory, 1)) return kErrorInvalidValue;
  wait_for_all();
  if (!remove_pinned(reinterpret_cast<uintptr_t>(memory))) return kErrorInvalidValue;
  std::free(memory);
  return call.refused();
}

// The stream, or why an operation on it and these ranges is refused.
struct Target {
  Stream* stream;
  Result refused;
};
Target target_of(const Call& call, StreamHandle handle, const char* what, DevicePtr memory, size_t bytes) {
  Stream* stream = stream_of(handle);
  if (call.refused()) return {stream, call.refused()};
  if (stream == nullptr) {
    report(std::string(what) + ": the default stream, or one that does not exist; streams are named here", kSuccess);
    return {stream, kErrorInvalidHandle};
  }
  if (bytes != 0 && !is_device_range(memory, bytes)) {
    report(format("%s: %zu bytes at 0x%llx are not within one block of device memory", what, bytes, memory), kSuccess);
    return {stream, kErrorInvalidValue};
  }
  return {stream, kSuccess};
}

Result memcpy_to_device(DevicePtr to, const void* from, size_t bytes, StreamHandle handle) {
  Call call;
  Target target = target_of(call, handle, "copy to the device", to, bytes);
  if (target.refused || bytes == 0) return target.refused;
  std::shared_ptr<std::string> staged;
  if (!target.stream->capture && !is_pinned(from, bytes))
    staged = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
  auto run = [=] {
    if (!claim_range(to, bytes, true)) return;
    std::memcpy(reinterpret_cast<void*>(to), staged ? staged->data() : from, bytes);
    g_space.mark_written(offset_of(to), bytes);
  };
  return submit_or_capture(*target.stream, {text("copy to the device"), run, transfer_cost(bytes), nullptr});
}

Result memcpy_to_host(void* to, DevicePtr from, size_t bytes, StreamHandle handle) {
  Call call;
  Target target = target_of(call, handle, "copy to the host", from, bytes);
  if (target.refused || bytes == 0) return target.refused;
  auto run = [=] {
    if (claim_range(from, bytes, false)) std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  };
  bool was_capturing = target.stream->capture != nullptr;
  Result result = submit_or_capture(*target.stream, {text("copy to the host"), run, transfer_cost(bytes), nullptr});
  if (result != kSuccess || was_capturing || is_pinned(to, bytes)) return result;
  wait_for(target.stream->last);
  return simulator().sticky;
}

Result memcpy_on_device(DevicePtr to, DevicePtr from, size_t bytes, StreamHandle handle) {
  Call call;
  Target target = target_of(call, handle, "copy on the device", to, bytes);
  if (target.refused || bytes == 0) return target.refused;
  if (Result refused = target_of(call, handle, "copy on the device", from, bytes).refused) return refused;
  auto run = [=] {
    if (!claim_range(from, bytes, false) || !claim_range(to, bytes, true)) return;
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    g_space.copy_marks(offset_of(to), offset_of(from), bytes);
  };
  return submit_or_capture(*target.stream, {text("copy on the device"), run, memory_cost(2 * bytes), nullptr});
}

template <class T>
Result fill(DevicePtr to, T value, size_t count, StreamHandle handle) {
  Call call;
  size_t bytes = count * sizeof(T);
  Target target = target_of(call, handle, "memset", to, bytes);
  if (target.refused || bytes == 0) return target.refused;
  if (to % sizeof(T) != 0) return kErrorInvalidValue;
  auto run = [=] {
    if (!claim_range(to, bytes, true)) return;
    std::fill_n(reinterpret_cast<T*>(to), count, value);
    g_space.mark_written(offset_of(to), bytes);
  };
  return submit_or_capture(*target.stream, {text("memset"), run, memory_cost(bytes), nullptr});
}

Result memset_d8(DevicePtr to, unsigned char value, size_t count, StreamHandle stream) {
  return fill<unsigned char>(to, value, count, stream);
}
Result memset_d32(DevicePtr to, unsigned value, size_t count, StreamHandle stream) {
  return fill<unsigned>(to, value, count, stream);
}

void announce(DevicePtr block, size_t bytes) {
  Call call(Call::kNothing);
  announce_block(block, bytes, capturing_here());
}
void retire(DevicePtr block) {
  Call call(Call::kNothing);
  retire_block(block);
}

// The argument of a native operation, as long as it may run.
struct Argument {
  void* value;
  HostFunction destroy;
  ~Argument() {
    if (destroy) destroy(value);
  }
};

Result launch_native(StreamHandle handle, const char* name, HostFunction run, void* value, HostFunction destroy,
                     const DeviceRange* ranges, int num_ranges) {
  Call call;
  auto argument = std::make_shared<Argument>(value, destroy);
  std::vector<DeviceRange> used(ranges, ranges + num_ranges);
  size_t bytes = 0;
  for (const DeviceRange& range : used) {
    bytes += range.bytes;
    if (Result refused = target_of(call, handle, name, range.start, range.bytes).refused) return refused;
  }
  Target target = target_of(call, handle, name, 0, 0);
  if (target.refused) return target.refused;
  auto body = [=] {
    for (const DeviceRange& range : used)
      if (!claim_range(range.start, range.bytes, range.written)) return;
    run(argument->value);
    for (const DeviceRange& range : used)
      if (range.written) g_space.mark_written(offset_of(range.start), range.bytes);
  };
  return submit_or_capture(*target.stream, {text(name), body, memory_cost(bytes), nullptr});
}

}  // namespace

void fill_memory_calls(DriverApi& api) {
  api.cuMemAlloc = mem_alloc;
  api.cuMemFree = mem_free;
  api.cuMemGetInfo = mem_get_info;
  api.cuMemHostAlloc = mem_host_alloc;
  api.cuMemFreeHost = mem_free_host;
  api.cuMemcpyHtoDAsync = memcpy_to_device;
  api.cuMemcpyDtoHAsync = memcpy_to_host;
  api.cuMemcpyDtoDAsync = memcpy_on_device;
  api.cuMemsetD8Async = memset_d8;
  api.cuMemsetD32Async = memset_d32;
  api.sim.announce_block = announce;
  api.sim.retire_block = retire;
  api.sim.launch_native = launch_native;
}

}  // namespace fuselet::cuda::sim
