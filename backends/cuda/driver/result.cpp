#include "backends/cuda/driver/result.h"

#include "backends/cuda/driver/load_driver.h"
#include "core/error.h"

namespace fuselet::cuda {

std::string describe(const DriverApi& api, Result result) {
  const char *name = nullptr, *text = nullptr;
  if (!api.cuGetErrorName || api.cuGetErrorName(result, &name) != kSuccess || !name) name = "CUDA_ERROR";
  if (!api.cuGetErrorString || api.cuGetErrorString(result, &text) != kSuccess || !text) text = "no text";
  return concat(name, " (", result, "): ", text);
}

bool is_sticky(Result result) {
  return result == kErrorIllegalAddress || result == kErrorLaunchTimeout || result == kErrorMisalignedAddress ||
         result == kErrorLaunchFailed;
}

void fail_call(const DriverApi& api, Result result, const char* call) {
  fail(call, ": ", describe(api, result),
       is_sticky(result) ? "; a kernel launched earlier failed, and this process can no longer use the device" : "");
}

void fail_call(Result result, const char* call) { fail_call(driver(), result, call); }

}  // namespace fuselet::cuda
