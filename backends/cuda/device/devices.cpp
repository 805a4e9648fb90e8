#include "backends/cuda/device/devices.h"

#include <algorithm>
#include <mutex>

#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/index_failures.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

struct UsedDevice {
  std::once_flag described, retained;
  DeviceProperties properties;
  ContextHandle context = nullptr;
};

UsedDevice& used_device(int device) {
  static auto* devices = new UsedDevice[kMaxCudaDevices];
  check_device(device);
  return devices[device];
}

DeviceProperties read_properties(int device) {
  const DriverApi& api = driver();
  const DeviceNumber number = device_number(device);
  auto attribute = [&](int which) {
    int value = 0;
    check(api.cuDeviceGetAttribute(&value, which, number), "cuDeviceGetAttribute");
    return value;
  };
  auto bytes = [&](int which) { return static_cast<size_t>(attribute(which)); };
  DeviceProperties p;
  char name[256] = {};
  check(api.cuDeviceGetName(name, sizeof name - 1, number), "cuDeviceGetName");
  p.name = name;
  check(api.cuDeviceTotalMem(&p.total_memory, number), "cuDeviceTotalMem");
  p.major = attribute(kAttributeComputeCapabilityMajor);
  p.minor = attribute(kAttributeComputeCapabilityMinor);
  p.multiprocessors = attribute(kAttributeMultiprocessorCount);
  p.warp_size = attribute(kAttributeWarpSize);
  p.max_threads_per_block = attribute(kAttributeMaxThreadsPerBlock);
  p.max_threads_per_multiprocessor = attribute(kAttributeMaxThreadsPerMultiprocessor);
  p.registers_per_block = attribute(kAttributeMaxRegistersPerBlock);
  p.shared_memory_per_block = bytes(kAttributeMaxSharedMemoryPerBlock);
  p.shared_memory_per_block_optin = bytes(kAttributeMaxSharedMemoryPerBlockOptin);
  p.shared_memory_per_multiprocessor = bytes(kAttributeMaxSharedMemoryPerMultiprocessor);
  p.l2_cache = bytes(kAttributeL2CacheSize);
  p.clock_khz = attribute(kAttributeClockRate);
  return p;
}

int count_devices() {
  int count = 0;
  if (!is_available() || driver().cuDeviceGetCount(&count) != kSuccess) return 0;
  return std::min(count, kMaxCudaDevices);
}

}  // namespace

int device_count() noexcept {
  static const int count = count_devices();
  return count;
}

void check_device(int device) {
  const int count = device_count();
  if (count == 0) fail("CUDA is not available: ", why_not_available());
  FUSELET_CHECK(device >= 0 && device < count, "there is no device cuda:", device, ": this machine has ", count,
                count == 1 ? " CUDA device" : " CUDA devices");
}

void set_device(int device) {
  check_device(device);
  dispatch_state().cuda_device = static_cast<int8_t>(device);
}

const DeviceProperties& device_properties(int device) {
  UsedDevice& used = used_device(device);
  std::call_once(used.described, [&] { used.properties = read_properties(device); });
  return used.properties;
}

DeviceNumber device_number(int device) {
  DeviceNumber number = 0;
  check(driver().cuDeviceGet(&number, device), "cuDeviceGet");
  return number;
}

ContextHandle context_of(int device) {
  UsedDevice& used = used_device(device);
  std::call_once(used.retained, [&] {
    check(driver().cuDevicePrimaryCtxRetain(&used.context, device_number(device)), "cuDevicePrimaryCtxRetain");
  });
  return used.context;
}

void make_current(int device) { check(driver().cuCtxSetCurrent(context_of(device)), "cuCtxSetCurrent"); }

void synchronize(int device) {
  make_current(device);
  check(driver().cuCtxSynchronize(), "cuCtxSynchronize");
  raise_index_failure(device);
}

}  // namespace fuselet::cuda
