// Sources to loaded modules of a device: in memory by content, from disk by content, else compiled, several at a time.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/driver/driver_api.h"
#include "compiler/target.h"

namespace fuselet::cuda::jit {

// Stays loaded until the process ends: kernels of it may be running when the last owner goes.
class LoadedModule {
 public:
  explicit LoadedModule(ModuleHandle handle) : handle_(handle) {}
  // Error if it has no such kernel.
  FunctionHandle function(const std::string& entry) const;

 private:
  ModuleHandle handle_;
};

struct BuiltModule {
  std::shared_ptr<const LoadedModule> module;
  KernelOrigin origin = KernelOrigin::Compiled;
  double milliseconds = 0;
  std::string remark;  // why it is not cached; empty: nothing to say
};

// One result a source, for the current device. InternalError with what NVRTC said where a source does not compile; the
// source is kept in the cache's folder `failed`.
std::vector<BuiltModule> build_modules(std::span<const std::string> sources);

// Compiles a trivial source on a thread of its own: NVRTC's first compilation of a process takes a third of a second.
void warm_up();

// Forgets what memory holds, for tests of the disk.
void forget_built_modules();

}  // namespace fuselet::cuda::jit
