// The compiler, graph to executable: decompose, passes, partition, fuse, lower, codegen, order, plan. The list in
// compile_graph.cpp is the order of the stages.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "compiler/partition/partition.h"
#include "compiler/plan/executable.h"

namespace fuselet {

enum class Numerics : uint8_t { Fused, Exact };

// A stage of the caller's own instead of the compiler's: takes the graph, returns it rewritten.
using GraphStage = std::function<ir::Graph(const ir::Graph&)>;

struct CompileOptions {
  Numerics numerics = Numerics::Fused;
  // Bytes that the forward may save for a backward that comes later; none: what the min-cut finds.
  std::optional<int64_t> memory_budget;
  // Whether intermediate memory is kept from call to call; else each call takes it from the allocator.
  bool keep_memory = true;
  // By name: decompose, passes.
  std::map<std::string, GraphStage> stages;
};

// Error for a stage that there is none of, or that takes no graph to a graph.
void check_stages(const std::map<std::string, GraphStage>& stages);

// `report` may be null; else every stage leaves its value and its time there.
std::shared_ptr<const Executable> compile_graph(const ir::Graph& graph, const CompileOptions& options,
                                                report::CompileReport* report = nullptr);

// A joint graph (compiler/joint/joint_graph.h) as two executables: a forward that saves, and a backward that takes. The
// report is the forward's; the stages of the backward follow with "backward." before their names.
struct CompiledJoint {
  std::shared_ptr<const Executable> forward, backward;
  Partition partition;
};
CompiledJoint compile_joint(const ir::Graph& joint, size_t num_forward_outputs, const CompileOptions& options,
                            report::CompileReport* report = nullptr);

}  // namespace fuselet
