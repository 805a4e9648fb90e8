// The compiler, graph to executable: decompose, passes, fuse, schedule, lower, codegen, plan. The order of the stages
// is the list in compile_graph.cpp.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "compiler/plan/executable.h"

namespace fuselet {

namespace report {
struct CompileReport;
}

enum class Numerics : uint8_t { Fused, Exact };

// A stage of the caller's own instead of the compiler's: takes the graph, returns it rewritten.
using GraphStage = std::function<ir::Graph(const ir::Graph&)>;

struct CompileOptions {
  Numerics numerics = Numerics::Fused;
  // Bytes that the forward may save for a backward that comes later; none: what the min-cut finds.
  std::optional<int64_t> memory_budget;
  std::map<std::string, GraphStage> stages;  // by name of the stage
};

// `report` may be null; else every stage leaves its value and its time there.
std::shared_ptr<const Executable> compile_graph(const ir::Graph& graph, const CompileOptions& options,
                                                report::CompileReport* report = nullptr);

}  // namespace fuselet
