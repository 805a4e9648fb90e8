// Sources to functions: in memory by content, from disk by content, else compiled, several at a time.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cpu/jit/loaded_object.h"
#include "compiler/target.h"

namespace fuselet::cpu::jit {

struct BuiltKernel {
  std::shared_ptr<LoadedObject> object;  // null: it could not be built
  KernelFunction function = nullptr;
  KernelOrigin origin = KernelOrigin::Compiled;
  double milliseconds = 0;
  std::string remark;
};

// One result a source. A source's first line is a comment with its name.
std::vector<BuiltKernel> build_kernels(std::span<const std::string> sources);

// Forgets what memory holds, for tests of the disk.
void forget_built_kernels();

}  // namespace fuselet::cpu::jit
