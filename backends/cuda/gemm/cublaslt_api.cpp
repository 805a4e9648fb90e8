#include "backends/cuda/gemm/cublaslt_api.h"

#include <dlfcn.h>

namespace fuselet::cuda::lt {

const char* name_of(Status status) {
  switch (status) {
    case kSuccess:
      return "CUBLAS_STATUS_SUCCESS";
    case kNotInitialized:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case kAllocFailed:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case kInvalidValue:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case kArchMismatch:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case kMappingError:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case kExecutionFailed:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case kInternalError:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case kNotSupported:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case kLicenseError:
      return "CUBLAS_STATUS_LICENSE_ERROR";
    default:
      return "an unknown status";
  }
}

const char* fill_table(Api* api, void* library) {
#define FUSELET_FILL(member, parameters)                                                     \
  api->member = reinterpret_cast<decltype(api->member)>(dlsym(library, "cublasLt" #member)); \
  if (!api->member) return "cublasLt" #member;
  FUSELET_CUBLASLT(FUSELET_FILL)
#undef FUSELET_FILL
  api->GetVersion = reinterpret_cast<decltype(api->GetVersion)>(dlsym(library, "cublasLtGetVersion"));
  return api->GetVersion ? nullptr : "cublasLtGetVersion";
}

}  // namespace fuselet::cuda::lt
