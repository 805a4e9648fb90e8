// The partition stage: a joint graph, forward and backward in one, becomes a forward that saves values and a backward
// that takes them, by a minimum cut on bytes.
//
// Entry: a joint graph, decomposed and cleaned: inputs of kind Tangent for the gradients that flow in; outputs are the
// forward's first, then the gradients; no `.grad` writes. What depends on a tangent is the backward's. Of the rest, the
// backward may compute again what the recompute table allows. InternalError if a forward output or a write into an
// input depends on a tangent.
//
// Exit: `forward` has the joint graph's inputs but the tangents, its cells, advances, writes and draws; its outputs are
// the forward outputs, then what is saved. `backward` has one input a saved value, then the tangents in their order;
// its outputs are the gradients. Both verify. Run one after the other they give the joint graph's values bit for bit:
//   - a recomputed random node carries the number of the forward's draw, and both run from the forward's generator
//     state: the same mask, and nothing is drawn anew;
//   - a cell in the backward stands for the number that the forward read (SavedScalar);
//   - an input that the forward overwrites is saved as it was, like any other value; other inputs and parameters are
//     alive anyway and cost nothing.
//
//   %1 = matmul(%x, %w); %2 = exp(%1); %3 = mul(%tangent, %2); output %2; output %3
//     -> forward:  %1 = matmul(%x, %w); %2 = exp(%1); output %2       (saved: %2, or %1 where more of the backward
//     reads it)
//        backward: %2 = mul(%tangent, %saved); output %2
//
// Ties: of cuts of equal bytes the one that recomputes least, and then the one closest to the backward.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/report/report.h"

namespace fuselet {

// One input of the backward.
struct SavedValue {
  std::string name;        // "exp.12": operator and value of the joint graph; an input's own name
  ir::ValueId value = -1;  // of the joint graph
  // Where it comes from, one of the two: an output of the forward (one of the user's, where that is the value), or an
  // input of the joint graph as the caller gave it.
  int32_t output = -1;
  int32_t input = -1;
  int64_t bytes = 0;  // 0 for an input
};

// One cell of the backward: cell `cell` of the joint graph, after these advances of the forward.
struct SavedScalar {
  int32_t cell = -1;
  std::vector<double> advances;
  double value(double at_start_of_forward) const;
};

struct RecomputedNode {
  int32_t node = -1;  // of the joint graph
  int64_t cost = 0;   // bytes moved, or arithmetic worth as much, of all runs
  int32_t runs = 1;   // more than one where keeping the value would raise the peak
};
struct BannedNode {
  int32_t node = -1;
  std::string reason;
};

struct Partition {
  ir::Graph forward, backward;
  size_t num_forward_outputs = 0;
  std::vector<SavedValue> saved;
  std::vector<SavedScalar> scalars;
  std::vector<RecomputedNode> recomputed;
  std::vector<int32_t> moved;      // nodes of the joint graph that depend on no tangent and run in the backward alone
  std::vector<BannedNode> banned;  // nodes that the backward could have recomputed
  int64_t saved_bytes = 0;
  int64_t planned_peak = 0;  // compiler/partition/planned_peak.h
  std::optional<int64_t> budget;
};

// With a budget, at most so many bytes are saved, at the least cost of recomputing that the frontier of cuts has
// (partition/cut_problem.h); where the minimum cut by itself keeps within the budget, that is the answer. Error naming
// the fewest bytes possible where the budget is below.
//
// A smaller budget never has a larger planned peak (partition/budget_search.h states the exception): what would is
// passed over, or computes values more than once instead of keeping them. So merge_common_subexpressions must not run
// on the backward.
Partition partition_min_cut(const ir::Graph& joint, size_t num_forward_outputs,
                            std::optional<int64_t> memory_budget = std::nullopt);

// Saves whatever the backward reads; recomputes views and fillings alone.
Partition partition_save_all(const ir::Graph& joint, size_t num_forward_outputs);

report::PartitionSummary summary_of(const Partition& partition, const ir::Graph& joint);

// The stage's text: the summary and both graphs.
std::string text_of(const Partition& partition, const ir::Graph& joint);

}  // namespace fuselet
