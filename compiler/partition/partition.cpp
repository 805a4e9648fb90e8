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

// The nodes of the backward ahead for which a recomputed value is kept, tried in this order until the peak is low
// enough: about a layer, an operator's gradient, the next node.
constexpr int32_t kKeepFor[] = {partition::kKeepAll, 32, 8, 1};

class Partitioner {
 public:
  Partitioner(const ir::Graph& joint, size_t num_forward_outputs)
      : joint_(joint),
        num_forward_outputs_(num_forward_outputs),
        sides_(partition::sides_of(joint, num_forward_outputs)) {}

  JointProblem problem(Policy policy) const { return partition::joint_problem(joint_, sides_, policy); }

  Partition carry_out(const JointProblem& problem, const CutChoice& choice, int32_t keep_for) const {
    Partition out;
    std::vector<int32_t> runs = partition::split_graph(joint_, sides_, choice, num_forward_outputs_, keep_for, &out);
    for (size_t n = 0; n < joint_.nodes.size(); ++n) {
      int32_t node = static_cast<int32_t>(n);
      bool again = choice.recompute[n] && (sides_.forward_needs[n] || runs[n] > 1);
      if (again) out.recomputed.push_back({node, problem.cut.nodes[n].cost * runs[n], runs[n]});
      if (choice.recompute[n] && !again) out.moved.push_back(node);
      if (!problem.reasons[n].empty()) out.banned.push_back({node, problem.reasons[n]});
    }
    FUSELET_INTERNAL_CHECK(out.saved_bytes == choice.bytes,
                           "partition: the bytes of the graphs are not those of the cut");
    out.planned_peak = partition::planned_peak(out);
    return out;
  }

  // From the most bytes down, each choice with no larger peak than those before it; the first within the budget.
  std::optional<Partition> within(int64_t budget, int64_t peak) const {
    JointProblem pressed = problem(Policy::Pressed);
    std::vector<CutChoice> choices = partition::frontier(pressed.cut);
    if (choices.front().bytes > budget) return std::nullopt;
    for (size_t i = choices.size(); i-- > 0;) {
      Partition p = lowest_peak(pressed, choices[i], peak);
      if (p.planned_peak > peak && i > 0) continue;
      peak = std::min(peak, p.planned_peak);
      if (p.saved_bytes <= budget) return p;
    }
    return std::nullopt;
  }

 private:
  // The first way of keeping whose peak is within the limit, or else the one with the lowest.
  Partition lowest_peak(const JointProblem& problem, const CutChoice& choice, int64_t limit) const {
    std::optional<Partition> best;
    for (int32_t keep_for : kKeepFor) {
      Partition p = carry_out(problem, choice, keep_for);
      if (!best || p.planned_peak < best->planned_peak) best = std::move(p);
      if (best->planned_peak <= limit) break;
    }
    return std::move(*best);
  }

  const ir::Graph& joint_;
  size_t num_forward_outputs_;
  Sides sides_;
};

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
  Partitioner partitioner(joint, num_forward_outputs);
  JointProblem free = partitioner.problem(Policy::Free);
  Partition out = partitioner.carry_out(free, partition::fewest_bytes(free.cut), partition::kKeepAll);
  if (memory_budget && out.saved_bytes > *memory_budget) {
    std::optional<Partition> within = partitioner.within(*memory_budget, out.planned_peak);
    FUSELET_CHECK(within, "memory_budget: '", joint.name, "' must save at least ",
                  partition::fewest_bytes(partitioner.problem(Policy::Pressed).cut).bytes,
                  " bytes for its backward, the budget is ", *memory_budget);
    out = std::move(*within);
  }
  out.budget = memory_budget;
  return out;
}

Partition partition_save_all(const ir::Graph& joint, size_t num_forward_outputs) {
  Partitioner partitioner(joint, num_forward_outputs);
  JointProblem problem = partitioner.problem(Policy::SaveAll);
  return partitioner.carry_out(problem, partition::fewest_bytes(problem.cut), partition::kKeepAll);
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
