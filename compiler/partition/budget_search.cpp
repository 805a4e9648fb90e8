#include "compiler/partition/budget_search.h"

#include <algorithm>

#include "compiler/partition/planned_peak.h"
#include "compiler/partition/split_graph.h"

namespace fuselet::partition {
namespace {

// For how many nodes of the backward ahead a recomputed value is kept, where not all are: about a layer, an operator's
// gradient, the next node.
constexpr int32_t kKeepFor[] = {32, 8, 1};

int64_t total_cost(const Partition& p) {
  int64_t sum = 0;
  for (const RecomputedNode& n : p.recomputed) sum += n.cost;
  return sum;
}

class BudgetSearch {
 public:
  BudgetSearch(const PartitionTask& task, std::vector<CutChoice> choices)
      : task_(task), choices_(std::move(choices)), kept_(choices_.size()) {}

  std::optional<Partition> run(int64_t budget, int64_t peak) {
    int64_t floor = lowest_peak_of_fewest_bytes();
    for (size_t i = choices_.size(); i-- > 0;) {
      std::optional<Partition> p = cheapest(i, std::max(peak, floor));
      if (!p) continue;
      peak = std::min(peak, p->planned_peak);
      if (choices_[i].bytes <= budget) return p;
    }
    return std::nullopt;
  }

 private:
  const Partition& kept(size_t i) {
    if (!kept_[i]) kept_[i] = carry_out(task_, choices_[i], kKeepAll);
    return *kept_[i];
  }

  int64_t lowest_peak_of_fewest_bytes() {
    int64_t lowest = kept(0).planned_peak;
    for (int32_t keep_for : kKeepFor) {
      if (std::optional<Partition> p = carry_out(task_, choices_[0], keep_for))
        lowest = std::min(lowest, p->planned_peak);
    }
    return lowest;
  }

  // With at most the bytes of choice i and this peak.
  std::optional<Partition> cheapest(size_t i, int64_t peak) {
    if (kept(i).planned_peak <= peak) return kept(i);
    std::optional<Partition> repeated = repeating(i, peak);
    for (size_t below = i; below-- > 0;) {
      if (repeated && choices_[below].cost >= total_cost(*repeated)) break;
      if (kept(below).planned_peak <= peak) return kept(below);
    }
    return repeated;
  }

  std::optional<Partition> repeating(size_t i, int64_t peak) {
    for (int32_t keep_for : kKeepFor) {
      std::optional<Partition> p = carry_out(task_, choices_[i], keep_for);
      if (p && p->planned_peak <= peak) return p;
    }
    return std::nullopt;
  }

  PartitionTask task_;
  std::vector<CutChoice> choices_;
  std::vector<std::optional<Partition>> kept_;  // of each choice, with all recomputed values kept
};

}  // namespace

std::optional<Partition> carry_out(const PartitionTask& task, const CutChoice& choice, int32_t keep_for) {
  Partition out;
  std::vector<int32_t> runs = split_graph(task.joint, task.sides, choice, task.num_forward_outputs, keep_for, &out);
  if (runs.size() != task.joint.nodes.size()) return std::nullopt;
  for (size_t n = 0; n < runs.size(); ++n) {
    int32_t node = static_cast<int32_t>(n);
    if (!task.problem.reasons[n].empty()) out.banned.push_back({node, task.problem.reasons[n]});
    if (!choice.recompute[n]) continue;
    int32_t again = task.sides.forward_needs[n] ? runs[n] : runs[n] - 1;
    if (again > 0) {
      out.recomputed.push_back({node, task.problem.costs[n] * again, runs[n]});
    } else {
      out.moved.push_back(node);
    }
  }
  FUSELET_INTERNAL_CHECK(out.saved_bytes == choice.bytes,
                         "partition: the bytes of the graphs are not those of the cut");
  out.planned_peak = planned_peak(out);
  return out;
}

std::optional<Partition> search_within(const PartitionTask& task, int64_t budget, int64_t peak) {
  std::vector<CutChoice> choices = frontier(task.problem.cut);
  if (choices.front().bytes > budget) return std::nullopt;
  return BudgetSearch(task, std::move(choices)).run(budget, peak);
}

}  // namespace fuselet::partition
