#include "backends/cuda/text_kernel.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/streams/stream.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

struct ProgramOwner {
  NvrtcProgram program = nullptr;
  ~ProgramOwner() {
    if (program) nvrtc().nvrtcDestroyProgram(&program);
  }
};

std::string log_of(NvrtcProgram program) {
  size_t bytes = 0;
  if (nvrtc().nvrtcGetProgramLogSize(program, &bytes) != 0 || bytes == 0) return "no log";
  std::string log(bytes, '\0');
  nvrtc().nvrtcGetProgramLog(program, log.data());
  return log.c_str();
}

std::vector<char> compile(const std::string& source, int device) {
  const DeviceProperties& p = device_properties(device);
  const std::string architecture = concat("--gpu-architecture=sm_", p.major * 10 + p.minor);
  const char* options[] = {architecture.c_str(), "--std=c++17", "--fmad=false"};
  ProgramOwner owner;
  check(nvrtc().nvrtcCreateProgram(&owner.program, source.c_str(), "text_kernel.cu", 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  const Result result = nvrtc().nvrtcCompileProgram(owner.program, 3, options);
  FUSELET_INTERNAL_CHECK(result == 0, concat("a kernel's text does not compile (nvrtcResult ", result, "):\n",
                                             log_of(owner.program), "\n", source));
  size_t bytes = 0;
  check(nvrtc().nvrtcGetCUBINSize(owner.program, &bytes), "nvrtcGetCUBINSize");
  std::vector<char> cubin(bytes);
  check(nvrtc().nvrtcGetCUBIN(owner.program, cubin.data()), "nvrtcGetCUBIN");
  return cubin;
}

FunctionHandle load(const std::string& source, int device) {
  const std::vector<char> cubin = compile(source, device);
  ModuleHandle module = nullptr;
  FunctionHandle function = nullptr;
  check(driver().cuModuleLoadData(&module, cubin.data()), "cuModuleLoadData");
  check(driver().cuModuleGetFunction(&function, module, "kernel"), "cuModuleGetFunction");
  return function;
}

struct Functions {
  std::mutex mutex;
  std::map<std::pair<int, std::string>, FunctionHandle> by_text;
};

FunctionHandle function_of(const std::string& source, int device) {
  // Never destroyed: the driver may be gone when statics are.
  static Functions* functions = new Functions();
  std::lock_guard lock(functions->mutex);
  FunctionHandle& function = functions->by_text[{device, source}];
  if (!function) function = load(source, device);
  return function;
}

}  // namespace

void launch_text_kernel(const std::string& source, int64_t count, const void* args, Device device) {
  if (count == 0) return;
  make_current(device.index);
  const FunctionHandle function = function_of(source, device.index);
  const auto blocks = static_cast<unsigned>((count + kTextKernelThreads - 1) / kTextKernelThreads);
  void* parameters[] = {const_cast<void*>(args)};
  check(driver().cuLaunchKernel(function, blocks, 1, 1, kTextKernelThreads, 1, 1, 0,
                                current_stream_handle(device.index), parameters, nullptr),
        "cuLaunchKernel");
}

}  // namespace fuselet::cuda
