// Modules, functions, launches.
#include <memory>
#include <unordered_map>

#include "backends/cuda_sim/compile/image.h"
#include "backends/cuda_sim/driver/fill_tables.h"
#include "backends/cuda_sim/execute/launch.h"
#include "backends/cuda_sim/order/costs.h"
#include "backends/cuda_sim/order/graph.h"
#include "backends/cuda_sim/report/report.h"

namespace fuselet::cuda::sim {

namespace {

std::unordered_map<Module*, std::shared_ptr<Module>>& modules() {
  static auto* map = new std::unordered_map<Module*, std::shared_ptr<Module>>;
  return *map;
}

Function* of(FunctionHandle handle) { return reinterpret_cast<Function*>(handle); }

Result module_load_data(ModuleHandle* module, const void* image) {
  Call call;
  if (Result refused = call.refused()) return refused;
  if (Result refused = refuse_during_capture()) return refused;
  if (module == nullptr || image == nullptr) return kErrorInvalidValue;
  std::string object, problem;
  if (!object_of_image(image, object)) return kErrorInvalidImage;
  std::shared_ptr<Module> loaded = Module::load(object, problem);
  if (!loaded) {
    report("cuModuleLoadData: " + problem, kSuccess);
    return kErrorInvalidImage;
  }
  *module = reinterpret_cast<ModuleHandle>(loaded.get());
  modules()[loaded.get()] = loaded;
  return kSuccess;
}

Result module_unload(ModuleHandle handle) {
  Call call;
  auto found = modules().find(reinterpret_cast<Module*>(handle));
  if (found == modules().end()) return kErrorInvalidHandle;
  if (Result refused = refuse_during_capture()) return refused;
  wait_for_all();
  modules().erase(found);
  return call.refused();
}

Result module_get_function(FunctionHandle* function, ModuleHandle handle, const char* name) {
  Call call;
  if (Result refused = call.refused()) return refused;
  auto found = modules().find(reinterpret_cast<Module*>(handle));
  if (found == modules().end()) return kErrorInvalidHandle;
  Function* named = found->second->function(name);
  if (named == nullptr) return kErrorNotFound;
  *function = reinterpret_cast<FunctionHandle>(named);
  return kSuccess;
}

// The simulator knows no registers; as many as let a multiprocessor be full.
constexpr int kRegisters = 32;

Result func_get_attribute(int* value, int attribute, FunctionHandle handle) {
  Call call;
  if (Result refused = call.refused()) return refused;
  const Function& function = *of(handle);
  switch (attribute) {
    case kFunctionMaxThreadsPerBlock:
      *value = function.max_threads;
      return kSuccess;
    case kFunctionSharedSizeBytes:
      *value = static_cast<int>(function.static_shared);
      return kSuccess;
    case kFunctionLocalSizeBytes:
      *value = 0;
      return kSuccess;
    case kFunctionNumRegs:
      *value = kRegisters;
      return kSuccess;
    case kFunctionMaxDynamicSharedSizeBytes:
      *value = static_cast<int>(function.max_dynamic_shared);
      return kSuccess;
    default:
      return kErrorInvalidValue;
  }
}

Result func_set_attribute(FunctionHandle handle, int attribute, int value) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Function& function = *of(handle);
  if (attribute != kFunctionMaxDynamicSharedSizeBytes || value < 0 ||
      static_cast<unsigned>(value) + function.static_shared > 227 * 1024)
    return kErrorInvalidValue;
  function.max_dynamic_shared = static_cast<unsigned>(value);
  return kSuccess;
}

// Threads, shared memory (1 KiB of each block's is the system's) and the most blocks of a multiprocessor.
Result occupancy(int* blocks, FunctionHandle handle, int block_size, size_t dynamic_shared) {
  Call call;
  if (Result refused = call.refused()) return refused;
  if (block_size <= 0 || block_size > kMaxThreads) return kErrorInvalidValue;
  size_t shared = of(handle)->static_shared + dynamic_shared + 1024;
  int by_threads = 2048 / ((block_size + 31) / 32 * 32), by_shared = static_cast<int>(228 * 1024 / shared);
  *blocks = std::min({by_threads, by_shared, 32});
  return kSuccess;
}

Result launch_kernel(FunctionHandle handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                     unsigned block_y, unsigned block_z, unsigned dynamic_shared, StreamHandle stream_handle,
                     void** parameters, void** extra) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr || handle == nullptr) {
    if (stream == nullptr)
      report("cuLaunchKernel: the default stream, or one that does not exist; streams are named here", kSuccess);
    return kErrorInvalidHandle;
  }
  auto launch = std::make_shared<Launch>();
  Result result = make_launch(*of(handle), {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_shared,
                              parameters, extra, *launch);
  if (result != kSuccess) return result;
  // A graph keeps the module that its kernels lie in.
  auto module = modules().at(of(handle)->module);
  auto what = std::make_shared<const std::string>("kernel " + of(handle)->name);
  return submit_or_capture(*stream,
                           {what, [launch, module] { run_launch(*launch); }, kernel_cost(launch->threads()), nullptr});
}

Result launch_host_func(StreamHandle handle, HostFunction function, void* argument) {
  Call call;
  if (Result refused = call.refused()) return refused;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return kErrorInvalidHandle;
  if (function == nullptr) return kErrorInvalidValue;
  auto what = std::make_shared<const std::string>("host function");
  return submit_or_capture(*stream, {what, [=] { function(argument); }, kOperationMicroseconds, nullptr});
}

}  // namespace

void fill_code_calls(DriverApi& api) {
  api.cuModuleLoadData = module_load_data;
  api.cuModuleUnload = module_unload;
  api.cuModuleGetFunction = module_get_function;
  api.cuFuncGetAttribute = func_get_attribute;
  api.cuFuncSetAttribute = func_set_attribute;
  api.cuOccupancyMaxActiveBlocksPerMultiprocessor = occupancy;
  api.cuLaunchKernel = launch_kernel;
  api.cuLaunchHostFunc = launch_host_func;
}

}  // namespace fuselet::cuda::sim
