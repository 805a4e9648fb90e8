// What a compiled function may be told.
#pragma once
#include <optional>
#include <string>

#include "compiler/compile_graph.h"

namespace fuselet {

struct CompileSettings {
  // "default", "reduce-overhead", "max-autotune-no-cudagraphs" or "max-autotune". On the CPU all of them compile alike.
  std::string mode = "default";
  // Whether a graph break is an error. It always is as yet.
  bool fullgraph = false;
  // Whether sizes are symbols. They never are as yet: another size is another compilation.
  std::optional<bool> dynamic = {};
  // The function depends on its arguments alone, so its code need not run again.
  bool pure = false;
  Numerics numerics = Numerics::Fused;
  std::optional<int64_t> memory_budget = {};
  // Most programs that the function may be compiled to; the next one is an Error.
  int recompile_limit = 8;
  std::map<std::string, GraphStage> stages = {};
  std::string name = "function";
};

// Error for a mode that there is none of, or a limit below 1.
void check_settings(const CompileSettings& settings);

}  // namespace fuselet
