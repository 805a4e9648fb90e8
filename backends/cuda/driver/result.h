// What the driver's calls return, as errors with the driver's own name and text for them.
#pragma once
#include <string>

#include "backends/cuda/driver/driver_api.h"

namespace fuselet::cuda {

// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
std::string describe(const DriverApi& api, Result result);

// True for faults of a kernel after which the process can no longer use the device.
bool is_sticky(Result result);

[[noreturn, gnu::cold]] void fail_call(const DriverApi& api, Result result, const char* call);
[[noreturn, gnu::cold]] void fail_call(Result result, const char* call);

// Error unless the call succeeded. call: the driver function's name.
inline void check(const DriverApi& api, Result result, const char* call) {
  if (result != kSuccess) [[unlikely]]
    fail_call(api, result, call);
}
inline void check(Result result, const char* call) {
  if (result != kSuccess) [[unlikely]]
    fail_call(result, call);
}

}  // namespace fuselet::cuda
