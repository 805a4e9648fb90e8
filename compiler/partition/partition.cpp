#include "compiler/partition/partition.h"

#include "compiler/partition/budget_search.h"
#include "compiler/partition/split_graph.h"

namespace fuselet {
namespace {

using partition::JointProblem;
using partition::PartitionTask;
using partition::Policy;
using partition::Sides;

// Always exists where all recomputed values are kept.
Partition fewest_bytes_of(const PartitionTask& task) {
  return partition::carry_out(task, partition::fewest_bytes(task.problem.cut), partition::kKeepAll).value();
}

std::string node_name(const ir::Graph& joint, int32_t node) {
  const ir::Node& n = joint.nodes[static_cast<size_t>(node)];
  std::string name = op_of(n.op).name;
  return n.outputs.empty() ? name : name + "." + std::to_string(n.outputs[0]);
}

}  // namespace

double SavedScalar::value(double at_start_of_forward) const {
  double v = at_start_of_forward;
  for (double by : advances) v += by;
  return v;
}

Partition partition_min_cut(const ir::Graph& joint, size_t num_forward_outputs, std::optional<int64_t> memory_budget) {
  Sides sides = partition::sides_of(joint, num_forward_outputs);
  JointProblem free = partition::joint_problem(joint, sides, Policy::Free);
  Partition out = fewest_bytes_of({joint, num_forward_outputs, sides, free});
  if (memory_budget && out.saved_bytes > *memory_budget) {
    JointProblem pressed = partition::joint_problem(joint, sides, Policy::Pressed);
    std::optional<Partition> within =
        partition::search_within({joint, num_forward_outputs, sides, pressed}, *memory_budget, out.planned_peak);
    FUSELET_CHECK(within, "memory_budget: '", joint.name, "' must save at least ",
                  partition::fewest_bytes(pressed.cut).bytes, " bytes for its backward, the budget is ",
                  *memory_budget);
    out = std::move(*within);
  }
  out.budget = memory_budget;
  return out;
}

Partition partition_save_all(const ir::Graph& joint, size_t num_forward_outputs) {
  Sides sides = partition::sides_of(joint, num_forward_outputs);
  JointProblem problem = partition::joint_problem(joint, sides, Policy::SaveAll);
  return fewest_bytes_of({joint, num_forward_outputs, sides, problem});
}

report::PartitionSummary summary_of(const Partition& p, const ir::Graph& joint) {
  report::PartitionSummary s;
  for (const SavedValue& v : p.saved) s.saved.push_back({v.name, v.bytes, v.input >= 0});
  for (const RecomputedNode& n : p.recomputed) s.recomputed.push_back({node_name(joint, n.node), n.cost, n.runs});
  for (const BannedNode& n : p.banned) s.banned.push_back({node_name(joint, n.node), n.reason});
  s.saved_bytes = p.saved_bytes;
  s.planned_peak = p.planned_peak;
  s.budget = p.budget;
  return s;
}

std::string text_of(const Partition& p, const ir::Graph& joint) {
  return report::text_of(summary_of(p, joint)) + ir::print(p.forward) + ir::print(p.backward);
}

}  // namespace fuselet
