#include "compiler/partition/partition.h"

#include <algorithm>

#include "compiler/partition/planned_peak.h"
#include "compiler/partition/split_graph.h"

namespace fuselet {
namespace {

using partition::CutChoice;
using partition::JointProblem;
using partition::Policy;
using partition::Sides;

Partition carry_out(const ir::Graph& joint, const Sides& sides, const JointProblem& problem, const CutChoice& choice,
                    size_t num_forward_outputs) {
  Partition out;
  partition::split_graph(joint, sides, choice, num_forward_outputs, &out);
  for (size_t n = 0; n < joint.nodes.size(); ++n) {
    int32_t node = static_cast<int32_t>(n);
    if (choice.recompute[n] && sides.forward_needs[n]) out.recomputed.push_back({node, problem.cut.nodes[n].cost});
    if (!problem.reasons[n].empty()) out.banned.push_back({node, problem.reasons[n]});
  }
  FUSELET_INTERNAL_CHECK(out.saved_bytes == choice.bytes,
                         "partition: the bytes of the graphs are not those of the cut");
  out.planned_peak = partition::planned_peak(out);
  return out;
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
  JointProblem problem = partition::joint_problem(joint, sides, Policy::Free);
  CutChoice choice = partition::fewest_bytes(problem.cut);
  if (memory_budget && choice.bytes > *memory_budget) {
    problem = partition::joint_problem(joint, sides, Policy::Pressed);
    std::optional<CutChoice> within = partition::least_cost_within(problem.cut, *memory_budget);
    FUSELET_CHECK(within, "memory_budget: '", joint.name, "' must save at least ",
                  partition::fewest_bytes(problem.cut).bytes, " bytes for its backward, the budget is ",
                  *memory_budget);
    choice = std::move(*within);
  }
  Partition out = carry_out(joint, sides, problem, choice, num_forward_outputs);
  out.budget = memory_budget;
  return out;
}

Partition partition_save_all(const ir::Graph& joint, size_t num_forward_outputs) {
  Sides sides = partition::sides_of(joint, num_forward_outputs);
  JointProblem problem = partition::joint_problem(joint, sides, Policy::SaveAll);
  return carry_out(joint, sides, problem, partition::fewest_bytes(problem.cut), num_forward_outputs);
}

report::PartitionSummary summary_of(const Partition& p, const ir::Graph& joint) {
  report::PartitionSummary s;
  for (const SavedValue& v : p.saved) s.saved.push_back({v.name, v.bytes, v.input >= 0});
  for (const RecomputedNode& n : p.recomputed) s.recomputed.push_back({node_name(joint, n.node), n.cost});
  for (const BannedNode& n : p.banned) s.banned.push_back({node_name(joint, n.node), n.reason});
  s.saved_bytes = p.saved_bytes;
  s.planned_peak = p.planned_peak;
  s.budget = p.budget;
  return s;
}

}  // namespace fuselet
