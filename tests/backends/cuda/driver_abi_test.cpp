// The declarations of driver_api.h against NVIDIA's own headers, where a toolkit has them: the value of every constant,
// and every function's signature with handles, pointers to them and enumerations reduced to what the ABI sees.
#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "backends/cuda/driver/driver_api.h"

namespace {

// What a caller and a callee must agree on: numbers and enumerations by size and sign, pointers by what they point at,
// where all opaque structures are alike.
template <class T>
struct Canonical {
  static std::string text() {
    if constexpr (std::is_void_v<T>) {
      return "void";
    } else if constexpr (std::is_enum_v<T>) {
      return Canonical<int>::text();  // of 4 bytes; negative values do not occur
    } else if constexpr (std::is_same_v<T, char>) {
      return "char";
    } else if constexpr (std::is_integral_v<T>) {
      return (std::is_signed_v<T> ? "i" : "u") + std::to_string(sizeof(T));
    } else if constexpr (std::is_floating_point_v<T>) {
      return "f" + std::to_string(sizeof(T));
    } else {
      static_assert(std::is_class_v<T>);
      return "struct";
    }
  }
};
template <class T>
struct Canonical<const T> {
  static std::string text() { return "const " + Canonical<T>::text(); }
};
template <class T>
struct Canonical<T*> {
  static std::string text() { return Canonical<T>::text() + "*"; }
};
template <class R, class... Args>
struct Canonical<R(Args...)> {
  static std::string text() {
    std::string out = Canonical<R>::text() + "(";
    ((out += Canonical<Args>::text() + ","), ...);
    return out + ")";
  }
};

struct Function {
  std::string symbol, signature;
};

// Before the headers are included, for they make macros of the names.
[[maybe_unused]] std::vector<Function> our_functions() {
  using fuselet::cuda::DriverApi, fuselet::cuda::NvrtcApi;
#define FUSELET_DRIVER_ROW(member, symbol, parameters) \
  {symbol, Canonical<std::remove_pointer_t<decltype(DriverApi::member)>>::text()},
#define FUSELET_NVRTC_ROW(member, symbol, parameters) \
  {symbol, Canonical<std::remove_pointer_t<decltype(NvrtcApi::member)>>::text()},
  return {FUSELET_CUDA_DRIVER(FUSELET_DRIVER_ROW) FUSELET_NVRTC(FUSELET_NVRTC_ROW)};
}

}  // namespace

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#define FUSELET_HAS_CUDA_HEADERS 1
#include <cuda.h>
#include <nvrtc.h>
#elif __has_include(</usr/local/cuda/include/cuda.h>) && __has_include(</usr/local/cuda/include/nvrtc.h>)
#define FUSELET_HAS_CUDA_HEADERS 1
#include </usr/local/cuda/include/cuda.h>
#include </usr/local/cuda/include/nvrtc.h>
#endif

#ifndef FUSELET_HAS_CUDA_HEADERS

// Reported as skipped: there is no cuda.h to compare with.
TEST_CASE("driver abi: functions and constants agree with cuda.h and nvrtc.h" * doctest::skip()) {}

#else

using namespace fuselet;

namespace {

#define FUSELET_TEXT(x) #x
#define FUSELET_EXPANDED(x) FUSELET_TEXT(x)
std::vector<Function> their_functions() {
#define FUSELET_ROW(member, symbol, parameters) {FUSELET_EXPANDED(member), Canonical<decltype(::member)>::text()},
  return {FUSELET_CUDA_DRIVER(FUSELET_ROW) FUSELET_NVRTC(FUSELET_ROW)};
}

}  // namespace

TEST_CASE("driver abi: functions agree with cuda.h and nvrtc.h") {
  const std::vector<Function> ours = our_functions(), theirs = their_functions();
  REQUIRE(ours.size() == theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    // Headers since 12.8 map this one to a symbol that older drivers lack; the older symbol does the same.
    const bool older = ours[i].symbol == "cuEventElapsedTime" && theirs[i].symbol == "cuEventElapsedTime_v2";
    if (!older) CHECK(ours[i].symbol == theirs[i].symbol);
    CAPTURE(ours[i].symbol);
    CHECK(ours[i].signature == theirs[i].signature);
  }
  MESSAGE(ours.size(), " functions compared, CUDA ", CUDA_VERSION);
  CHECK(ours.size() > 60);
}

TEST_CASE("driver abi: constants agree with cuda.h") {
  struct Constant {
    const char* name;
    int64_t ours, theirs;
  };
#define FUSELET_CONSTANT(ours, theirs) \
  { #theirs, static_cast < int64_t>(cuda::ours), static_cast < int64_t>(theirs) }
  const Constant constants[] = {
      FUSELET_CONSTANT(kSuccess, CUDA_SUCCESS),
      FUSELET_CONSTANT(kErrorInvalidValue, CUDA_ERROR_INVALID_VALUE),
      FUSELET_CONSTANT(kErrorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY),
      FUSELET_CONSTANT(kErrorNotInitialized, CUDA_ERROR_NOT_INITIALIZED),
      FUSELET_CONSTANT(kErrorDeinitialized, CUDA_ERROR_DEINITIALIZED),
      FUSELET_CONSTANT(kErrorNoDevice, CUDA_ERROR_NO_DEVICE),
      FUSELET_CONSTANT(kErrorInvalidContext, CUDA_ERROR_INVALID_CONTEXT),
      FUSELET_CONSTANT(kErrorInvalidHandle, CUDA_ERROR_INVALID_HANDLE),
      FUSELET_CONSTANT(kErrorNotFound, CUDA_ERROR_NOT_FOUND),
      FUSELET_CONSTANT(kErrorNotReady, CUDA_ERROR_NOT_READY),
      FUSELET_CONSTANT(kErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS),
      FUSELET_CONSTANT(kErrorLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
      FUSELET_CONSTANT(kErrorLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT),
      FUSELET_CONSTANT(kErrorMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS),
      FUSELET_CONSTANT(kErrorLaunchFailed, CUDA_ERROR_LAUNCH_FAILED),
      FUSELET_CONSTANT(kErrorStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
      FUSELET_CONSTANT(kErrorStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
      FUSELET_CONSTANT(kErrorStreamCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED),
      FUSELET_CONSTANT(kAttributeMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
      FUSELET_CONSTANT(kAttributeMaxSharedMemoryPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
      FUSELET_CONSTANT(kAttributeWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE),
      FUSELET_CONSTANT(kAttributeMaxRegistersPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
      FUSELET_CONSTANT(kAttributeClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
      FUSELET_CONSTANT(kAttributeMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
      FUSELET_CONSTANT(kAttributeMaxThreadsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
      FUSELET_CONSTANT(kAttributeL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
      FUSELET_CONSTANT(kAttributeComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
      FUSELET_CONSTANT(kAttributeComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
      FUSELET_CONSTANT(kAttributeMaxSharedMemoryPerMultiprocessor,
                       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
      FUSELET_CONSTANT(kAttributeMaxSharedMemoryPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
      FUSELET_CONSTANT(kFunctionMaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
      FUSELET_CONSTANT(kFunctionSharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
      FUSELET_CONSTANT(kFunctionLocalSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
      FUSELET_CONSTANT(kFunctionNumRegs, CU_FUNC_ATTRIBUTE_NUM_REGS),
      FUSELET_CONSTANT(kFunctionMaxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
      FUSELET_CONSTANT(kStreamNonBlocking, CU_STREAM_NON_BLOCKING),
      FUSELET_CONSTANT(kEventDefault, CU_EVENT_DEFAULT),
      FUSELET_CONSTANT(kEventDisableTiming, CU_EVENT_DISABLE_TIMING),
      FUSELET_CONSTANT(kCaptureModeGlobal, CU_STREAM_CAPTURE_MODE_GLOBAL),
      FUSELET_CONSTANT(kCaptureModeThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      FUSELET_CONSTANT(kCaptureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED),
      FUSELET_CONSTANT(kCaptureStatusNone, CU_STREAM_CAPTURE_STATUS_NONE),
      FUSELET_CONSTANT(kCaptureStatusActive, CU_STREAM_CAPTURE_STATUS_ACTIVE),
      FUSELET_CONSTANT(kCaptureStatusInvalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED),
  };
  for (const Constant& c : constants) {
    CAPTURE(c.name);
    CHECK(c.ours == c.theirs);
  }
}

#endif
