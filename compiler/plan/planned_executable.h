// Runs planned steps. All memory of a call is there before its first launch: the arena of a context from the pool, and
// storages for what the caller receives. Then a run walks over launch records whose arguments are baked but for the
// pointers to inputs and outputs, the scalars, and the draws.
#pragma once
#include <memory>
#include <vector>

#include "compiler/plan/executable.h"
#include "compiler/plan/plan_memory.h"
#include "compiler/target.h"

namespace fuselet::plan {

struct ExecutableParts {
  ir::Graph graph;  // of primitives
  std::vector<lower::LoweredKernel> kernels;
  std::vector<std::shared_ptr<const CompiledKernel>> compiled;  // one a kernel
  std::vector<int64_t> scratch_bytes;                           // one a kernel
  Order order;
  MemoryPlan memory;
  bool keep_memory = true;  // CompileOptions::keep_memory
};

std::shared_ptr<const Executable> make_executable(ExecutableParts parts, const lower::GraphFacts& facts);

}  // namespace fuselet::plan
