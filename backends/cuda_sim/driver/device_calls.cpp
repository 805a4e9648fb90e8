// Initialisation, what the device says of itself, contexts, the names of errors.
#include <algorithm>
#include <cstring>

#include "backends/cuda_sim/driver/fill_tables.h"
#include "backends/cuda_sim/memory/device_memory.h"
#include "backends/cuda_sim/order/graph.h"
#include "backends/cuda_sim/settings.h"

namespace fuselet::cuda::sim {

namespace {

constexpr const char* kDeviceName = "fuselet simulated device";

// Those of an H200, so that schedules chosen for one are tried here.
int attribute_value(int attribute) {
  switch (attribute) {
    case kAttributeMaxThreadsPerBlock:
      return 1024;
    case kAttributeMaxSharedMemoryPerBlock:
      return 48 * 1024;
    case kAttributeWarpSize:
      return 32;
    case kAttributeMaxRegistersPerBlock:
      return 65536;
    case kAttributeClockRate:
      return 1980000;
    case kAttributeMultiprocessorCount:
      return 132;
    case kAttributeMaxThreadsPerMultiprocessor:
      return 2048;
    case kAttributeL2CacheSize:
      return 50 << 20;
    case kAttributeComputeCapabilityMajor:
      return 9;
    case kAttributeComputeCapabilityMinor:
      return 0;
    case kAttributeMaxSharedMemoryPerMultiprocessor:
      return 228 * 1024;
    case kAttributeMaxSharedMemoryPerBlockOptin:
      return 227 * 1024;
    default:
      return -1;
  }
}

Result init(unsigned flags) {
  Call call(Call::kNothing);
  if (flags != 0) return kErrorInvalidValue;
  // Four times the memory: freed addresses stay unused for long.
  size_t span = std::max(settings().memory * 4, size_t{1} << 32);
  if (!g_space.reserve(span)) return kErrorOutOfMemory;
  simulator().initialised = true;
  return kSuccess;
}

Result driver_get_version(int* version) {
  *version = 13000;
  return kSuccess;
}

Result device_get_count(int* count) {
  Call call(Call::kInit);
  *count = 1;
  return call.refused();
}

Result device_get(DeviceNumber* device, int ordinal) {
  Call call(Call::kInit);
  if (Result refused = call.refused()) return refused;
  if (ordinal != 0) return kErrorInvalidDevice;
  *device = 0;
  return kSuccess;
}

Result device_get_name(char* name, int length, DeviceNumber device) {
  if (device != 0) return kErrorInvalidDevice;
  if (length <= 0) return kErrorInvalidValue;
  std::strncpy(name, kDeviceName, static_cast<size_t>(length) - 1);
  name[length - 1] = '\0';
  return kSuccess;
}

Result device_get_attribute(int* value, int attribute, DeviceNumber device) {
  if (device != 0) return kErrorInvalidDevice;
  *value = attribute_value(attribute);
  return *value < 0 ? kErrorInvalidValue : kSuccess;
}

Result device_total_mem(size_t* bytes, DeviceNumber device) {
  Call call(Call::kInit);
  if (device != 0) return kErrorInvalidDevice;
  memory_info(nullptr, bytes);
  return call.refused();
}

Result primary_ctx_retain(ContextHandle* context, DeviceNumber device) {
  Call call(Call::kInit);
  if (device != 0) return kErrorInvalidDevice;
  *context = the_context();
  return call.refused();
}

// The context is the process's; its memory stays.
Result primary_ctx_release(DeviceNumber device) { return device == 0 ? kSuccess : kErrorInvalidDevice; }

Result ctx_set_current(ContextHandle context) {
  Call call(Call::kInit);
  if (context != nullptr && context != the_context()) return kErrorInvalidContext;
  set_current_context(context);
  return call.refused();
}

Result ctx_get_current(ContextHandle* context) {
  Call call(Call::kInit);
  *context = current_context();
  return call.refused();
}

Result ctx_synchronize() {
  Call call;
  if (Result refused = call.refused()) return refused;
  if (Result refused = refuse_during_any_capture()) return refused;
  wait_for_all();
  return simulator().sticky;
}

struct ErrorText {
  Result error;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "operation would result in a merge of separate capture sequences"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "attempt to terminate a thread-local capture from another thread"},
};

const ErrorText* find_error(Result error) {
  auto found = std::find_if(std::begin(kErrors), std::end(kErrors), [&](const auto& e) { return e.error == error; });
  return found == std::end(kErrors) ? nullptr : found;
}

Result get_error_name(Result error, const char** name) {
  const ErrorText* found = find_error(error);
  *name = found ? found->name : nullptr;
  return found ? kSuccess : kErrorInvalidValue;
}

Result get_error_string(Result error, const char** text) {
  const ErrorText* found = find_error(error);
  *text = found ? found->text : nullptr;
  return found ? kSuccess : kErrorInvalidValue;
}

}  // namespace

void fill_device_calls(DriverApi& api) {
  api.cuInit = init;
  api.cuDriverGetVersion = driver_get_version;
  api.cuDeviceGetCount = device_get_count;
  api.cuDeviceGet = device_get;
  api.cuDeviceGetName = device_get_name;
  api.cuDeviceGetAttribute = device_get_attribute;
  api.cuDeviceTotalMem = device_total_mem;
  api.cuDevicePrimaryCtxRetain = primary_ctx_retain;
  api.cuDevicePrimaryCtxRelease = primary_ctx_release;
  api.cuCtxSetCurrent = ctx_set_current;
  api.cuCtxGetCurrent = ctx_get_current;
  api.cuCtxSynchronize = ctx_synchronize;
  api.cuGetErrorName = get_error_name;
  api.cuGetErrorString = get_error_string;
}

}  // namespace fuselet::cuda::sim
