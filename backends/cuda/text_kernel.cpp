#include "backends/cuda/text_kernel.h"

#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/jit/module_library.h"
#include "backends/cuda/streams/stream.h"

namespace fuselet::cuda {
namespace {

struct Functions {
  std::mutex mutex;
  std::map<std::pair<int, std::string>, FunctionHandle> by_text;
};

FunctionHandle function_of(const std::string& source, int device) {
  // Never destroyed: the driver may be gone when statics are.
  static Functions* functions = new Functions();
  std::lock_guard lock(functions->mutex);
  FunctionHandle& function = functions->by_text[{device, source}];
  if (!function) {
    DeviceGuard guard(device);
    function = jit::build_modules(std::span(&source, 1))[0].module->function("kernel");  // modules stay loaded
  }
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
