// The partition for a memory budget: the cheapest whose saved bytes keep within it and whose planned peak is no larger
// than that of any larger budget. The one exception: saving the fewest bytes may need a larger peak than saving more,
// and up to that peak any budget may go.
//
// The choices are those of the frontier, from the most bytes down; each stands for the budgets from its bytes up to
// those of the choice above. Where its peak is too large there are two ways out, and the one that recomputes less is
// taken: a choice further down, or giving recomputed values up in between and computing them once more. The search
// never looks at the budget but to stop, so budgets agree on what they pass.
#pragma once
#include "compiler/partition/cut_problem.h"
#include "compiler/partition/joint_analysis.h"
#include "compiler/partition/partition.h"

namespace fuselet::partition {

// A joint graph, and the problem of one policy on it.
struct PartitionTask {
  const ir::Graph& joint;
  size_t num_forward_outputs;
  const Sides& sides;
  const JointProblem& problem;
};

// The partition of a choice. `keep_for` as in split_graph.h; nothing if the backward grows too large, which it never
// does where all is kept.
std::optional<Partition> carry_out(const PartitionTask& task, const CutChoice& choice, int32_t keep_for);

// `peak`: of the partition without a budget. Nothing if even the fewest bytes are more than the budget.
std::optional<Partition> search_within(const PartitionTask& task, int64_t budget, int64_t peak);

}  // namespace fuselet::partition
