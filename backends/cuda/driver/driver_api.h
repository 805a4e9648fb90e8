// The CUDA driver API and NVRTC as tables of function pointers, filled by dlopen (load_driver.h) or by the simulated
// device (backends/cuda_sim). Nothing else in the project calls NVIDIA's libraries directly.
//
// The binary interface is declared here, so that every build serves every machine: no CUDA header is needed.
// tests/backends/cuda/driver_abi_test.cpp compares these declarations with cuda.h and nvrtc.h where a toolkit has them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fuselet::cuda {

using Result = int;  // CUresult
using DeviceNumber = int;
using DevicePtr = unsigned long long;  // CUdeviceptr

// Handles are pointers that only the driver follows.
using ContextHandle = struct ContextTag*;
using ModuleHandle = struct ModuleTag*;
using FunctionHandle = struct FunctionTag*;
using StreamHandle = struct StreamTag*;
using EventHandle = struct EventTag*;
using GraphHandle = struct GraphTag*;
using GraphExecHandle = struct GraphExecTag*;
using NvrtcProgram = struct NvrtcProgramTag*;
using HostFunction = void (*)(void*);

// CUresult
inline constexpr Result kSuccess = 0;
inline constexpr Result kErrorInvalidValue = 1;
inline constexpr Result kErrorOutOfMemory = 2;
inline constexpr Result kErrorNotInitialized = 3;
inline constexpr Result kErrorDeinitialized = 4;
inline constexpr Result kErrorNoDevice = 100;
inline constexpr Result kErrorInvalidContext = 201;
inline constexpr Result kErrorInvalidHandle = 400;
inline constexpr Result kErrorNotFound = 500;
inline constexpr Result kErrorNotReady = 600;
inline constexpr Result kErrorIllegalAddress = 700;
inline constexpr Result kErrorLaunchOutOfResources = 701;
inline constexpr Result kErrorLaunchTimeout = 702;
inline constexpr Result kErrorMisalignedAddress = 716;
inline constexpr Result kErrorLaunchFailed = 719;
inline constexpr Result kErrorStreamCaptureUnsupported = 900;
inline constexpr Result kErrorStreamCaptureInvalidated = 901;
inline constexpr Result kErrorStreamCaptureUnjoined = 904;

// CUdevice_attribute
inline constexpr int kAttributeMaxThreadsPerBlock = 1;
inline constexpr int kAttributeMaxSharedMemoryPerBlock = 8;
inline constexpr int kAttributeWarpSize = 10;
inline constexpr int kAttributeMaxRegistersPerBlock = 12;
inline constexpr int kAttributeClockRate = 13;
inline constexpr int kAttributeMultiprocessorCount = 16;
inline constexpr int kAttributeMaxThreadsPerMultiprocessor = 39;
inline constexpr int kAttributeL2CacheSize = 38;
inline constexpr int kAttributeComputeCapabilityMajor = 75;
inline constexpr int kAttributeComputeCapabilityMinor = 76;
inline constexpr int kAttributeMaxSharedMemoryPerMultiprocessor = 81;
inline constexpr int kAttributeMaxSharedMemoryPerBlockOptin = 97;

// CUfunction_attribute
inline constexpr int kFunctionMaxThreadsPerBlock = 0;
inline constexpr int kFunctionSharedSizeBytes = 1;
inline constexpr int kFunctionLocalSizeBytes = 3;
inline constexpr int kFunctionNumRegs = 4;
inline constexpr int kFunctionMaxDynamicSharedSizeBytes = 8;

// Flags
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr int kCaptureModeGlobal = 0, kCaptureModeThreadLocal = 1, kCaptureModeRelaxed = 2;
inline constexpr int kCaptureStatusNone = 0, kCaptureStatusActive = 1, kCaptureStatusInvalidated = 2;

// X(member, symbol that libcuda exports, parameters). cuda.h maps many names to versioned symbols: those are meant.
#define FUSELET_CUDA_DRIVER(X)                                                                                       \
  X(cuInit, "cuInit", (unsigned flags))                                                                              \
  X(cuDriverGetVersion, "cuDriverGetVersion", (int* version))                                                        \
  X(cuDeviceGetCount, "cuDeviceGetCount", (int* count))                                                              \
  X(cuDeviceGet, "cuDeviceGet", (DeviceNumber * device, int ordinal))                                                \
  X(cuDeviceGetName, "cuDeviceGetName", (char* name, int length, DeviceNumber device))                               \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int* value, int attribute, DeviceNumber device))                  \
  X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, DeviceNumber device))                                  \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (ContextHandle * context, DeviceNumber device))            \
  X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (DeviceNumber device))                                \
  X(cuCtxSetCurrent, "cuCtxSetCurrent", (ContextHandle context))                                                     \
  X(cuCtxGetCurrent, "cuCtxGetCurrent", (ContextHandle * context))                                                   \
  X(cuCtxSynchronize, "cuCtxSynchronize", ())                                                                        \
  X(cuGetErrorName, "cuGetErrorName", (Result error, const char** name))                                             \
  X(cuGetErrorString, "cuGetErrorString", (Result error, const char** text))                                         \
  X(cuMemAlloc, "cuMemAlloc_v2", (DevicePtr * memory, size_t bytes))                                                 \
  X(cuMemFree, "cuMemFree_v2", (DevicePtr memory))                                                                   \
  X(cuMemGetInfo, "cuMemGetInfo_v2", (size_t * free, size_t * total))                                                \
  X(cuMemHostAlloc, "cuMemHostAlloc", (void** memory, size_t bytes, unsigned flags))                                 \
  X(cuMemFreeHost, "cuMemFreeHost", (void* memory))                                                                  \
  X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (DevicePtr to, const void* from, size_t bytes, StreamHandle stream))  \
  X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void* to, DevicePtr from, size_t bytes, StreamHandle stream))        \
  X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (DevicePtr to, DevicePtr from, size_t bytes, StreamHandle stream))    \
  X(cuMemsetD8Async, "cuMemsetD8Async", (DevicePtr to, unsigned char value, size_t count, StreamHandle stream))      \
  X(cuMemsetD32Async, "cuMemsetD32Async", (DevicePtr to, unsigned value, size_t count, StreamHandle stream))         \
  X(cuModuleLoadData, "cuModuleLoadData", (ModuleHandle * module, const void* image))                                \
  X(cuModuleUnload, "cuModuleUnload", (ModuleHandle module))                                                         \
  X(cuModuleGetFunction, "cuModuleGetFunction", (FunctionHandle * function, ModuleHandle module, const char* name))  \
  X(cuFuncGetAttribute, "cuFuncGetAttribute", (int* value, int attribute, FunctionHandle function))                  \
  X(cuFuncSetAttribute, "cuFuncSetAttribute", (FunctionHandle function, int attribute, int value))                   \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                      \
    (int* blocks, FunctionHandle function, int block_size, size_t dynamic_shared))                                   \
  X(cuLaunchKernel, "cuLaunchKernel",                                                                                \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned dynamic_shared, StreamHandle stream, void** parameters, void** extra))               \
  X(cuLaunchHostFunc, "cuLaunchHostFunc", (StreamHandle stream, HostFunction function, void* argument))              \
  X(cuStreamCreate, "cuStreamCreate", (StreamHandle * stream, unsigned flags))                                       \
  X(cuStreamDestroy, "cuStreamDestroy_v2", (StreamHandle stream))                                                    \
  X(cuStreamSynchronize, "cuStreamSynchronize", (StreamHandle stream))                                               \
  X(cuStreamQuery, "cuStreamQuery", (StreamHandle stream))                                                           \
  X(cuStreamWaitEvent, "cuStreamWaitEvent", (StreamHandle stream, EventHandle event, unsigned flags))                \
  X(cuEventCreate, "cuEventCreate", (EventHandle * event, unsigned flags))                                           \
  X(cuEventDestroy, "cuEventDestroy_v2", (EventHandle event))                                                        \
  X(cuEventRecord, "cuEventRecord", (EventHandle event, StreamHandle stream))                                        \
  X(cuEventSynchronize, "cuEventSynchronize", (EventHandle event))                                                   \
  X(cuEventQuery, "cuEventQuery", (EventHandle event))                                                               \
  X(cuEventElapsedTime, "cuEventElapsedTime", (float* milliseconds, EventHandle start, EventHandle end))             \
  X(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (StreamHandle stream, int mode))                                \
  X(cuStreamEndCapture, "cuStreamEndCapture", (StreamHandle stream, GraphHandle * graph))                            \
  X(cuStreamIsCapturing, "cuStreamIsCapturing", (StreamHandle stream, int* status))                                  \
  X(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags",                                                      \
    (GraphExecHandle * exec, GraphHandle graph, unsigned long long flags))                                           \
  X(cuGraphLaunch, "cuGraphLaunch", (GraphExecHandle exec, StreamHandle stream))                                     \
  X(cuGraphExecDestroy, "cuGraphExecDestroy", (GraphExecHandle exec))                                                \
  X(cuGraphDestroy, "cuGraphDestroy", (GraphHandle graph))

// The same of NVRTC; results are nvrtcResult, 0 for success.
#define FUSELET_NVRTC(X)                                                                                             \
  X(nvrtcVersion, "nvrtcVersion", (int* major, int* minor))                                                          \
  X(nvrtcGetNumSupportedArchs, "nvrtcGetNumSupportedArchs", (int* count))                                            \
  X(nvrtcGetSupportedArchs, "nvrtcGetSupportedArchs", (int* archs))                                                  \
  X(nvrtcCreateProgram, "nvrtcCreateProgram",                                                                        \
    (NvrtcProgram * program, const char* source, const char* name, int num_headers, const char* const* headers,      \
     const char* const* header_names))                                                                               \
  X(nvrtcCompileProgram, "nvrtcCompileProgram", (NvrtcProgram program, int num_options, const char* const* options)) \
  X(nvrtcGetCUBINSize, "nvrtcGetCUBINSize", (NvrtcProgram program, size_t * bytes))                                  \
  X(nvrtcGetCUBIN, "nvrtcGetCUBIN", (NvrtcProgram program, char* cubin))                                             \
  X(nvrtcGetPTXSize, "nvrtcGetPTXSize", (NvrtcProgram program, size_t * bytes))                                      \
  X(nvrtcGetPTX, "nvrtcGetPTX", (NvrtcProgram program, char* ptx))                                                   \
  X(nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize", (NvrtcProgram program, size_t * bytes))                        \
  X(nvrtcGetProgramLog, "nvrtcGetProgramLog", (NvrtcProgram program, char* log))                                     \
  X(nvrtcDestroyProgram, "nvrtcDestroyProgram", (NvrtcProgram * program))

struct NvrtcApi {
#define FUSELET_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  FUSELET_NVRTC(FUSELET_MEMBER)
};

// A part of device memory that a native operation reads or writes.
struct DeviceRange {
  DevicePtr start;
  size_t bytes;
  bool written;
};

// What only the simulated device offers; all null with a real driver.
struct SimulatorApi {
  // The allocator took `bytes` at `block`, inside memory of cuMemAlloc, for a tensor; gave it back. Accesses outside
  // announced blocks, and before their first write, are then reported.
  void (*announce_block)(DevicePtr block, size_t bytes) = nullptr;
  void (*retire_block)(DevicePtr block) = nullptr;
  // Host code as an operation of a stream that reads and writes device memory (products, mostly): run(argument), then
  // destroy(argument).
  Result (*launch_native)(StreamHandle stream, const char* name, HostFunction run, void* argument, HostFunction destroy,
                          const DeviceRange* ranges, int num_ranges) = nullptr;
};

struct DriverApi {
  FUSELET_CUDA_DRIVER(FUSELET_MEMBER)
#undef FUSELET_MEMBER
  SimulatorApi sim;
  bool is_simulated() const { return sim.launch_native != nullptr; }
};

// What the simulator's library exports: fills both tables; returns 0.
using FillTables = int (*)(DriverApi* driver, NvrtcApi* nvrtc);
inline constexpr const char* kSimulatorEntry = "fuselet_cuda_sim_fill_tables";

}  // namespace fuselet::cuda
