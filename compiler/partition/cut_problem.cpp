#include "compiler/partition/cut_problem.h"

#include "compiler/partition/max_flow.h"
#include "core/error.h"

namespace fuselet::partition {
namespace {

// Choices that the search between two corners tries at most in all; a thousand nodes take milliseconds each.
constexpr int64_t kMostTrials = 4096;

struct Weights {
  Capacity bytes, cost;
};

CutChoice minimum_cut(const CutProblem& p, Weights w) {
  int32_t num_nodes = static_cast<int32_t>(p.nodes.size()), num_values = static_cast<int32_t>(p.values.size());
  constexpr int32_t kSource = 0, kSink = 1, kFirst = 2;
  auto value_vertex = [&](int32_t v) { return kFirst + num_nodes + v; };
  MaxFlow flow(kFirst + num_nodes + num_values);
  for (int32_t n = 0; n < num_nodes; ++n) {
    const CutProblem::Node& node = p.nodes[static_cast<size_t>(n)];
    flow.add_edge(kSource, kFirst + n, node.may_recompute ? w.cost * node.cost : kUncuttable);
    for (int32_t v : node.operands) flow.add_edge(value_vertex(v), kFirst + n, kUncuttable);
  }
  for (int32_t v = 0; v < num_values; ++v) {
    const CutProblem::Value& value = p.values[static_cast<size_t>(v)];
    int32_t from = value.node < 0 ? kSource : kFirst + value.node;
    flow.add_edge(from, value_vertex(v), value.may_save ? w.bytes * value.bytes : kUncuttable);
    if (value.needed) flow.add_edge(value_vertex(v), kSink, kUncuttable);
  }
  FUSELET_INTERNAL_CHECK(flow.run(kSource, kSink) < kUncuttable,
                         "partition: a value can neither be saved nor recomputed");
  std::vector<bool> in_forward = flow.source_side();
  std::vector<bool> recompute(p.nodes.size());
  for (size_t n = 0; n < p.nodes.size(); ++n) recompute[n] = !in_forward[static_cast<size_t>(kFirst) + n];
  std::optional<CutChoice> choice = follow(p, std::move(recompute));
  FUSELET_INTERNAL_CHECK(choice, "partition: the cut crosses a value that may not be saved");
  return *choice;
}

Capacity total_cost(const CutProblem& p) {
  Capacity sum = 0;
  for (const CutProblem::Node& n : p.nodes) sum += n.cost;
  return sum;
}
Capacity total_bytes(const CutProblem& p) {
  Capacity sum = 0;
  for (const CutProblem::Value& v : p.values) sum += v.bytes;
  return sum;
}

// Between two corners, the corner furthest below the line through them; then on the side where the budget lies.
CutChoice corner_within(const CutProblem& p, int64_t budget, CutChoice low, CutChoice high) {
  while (true) {
    Weights w{Capacity{low.cost - high.cost}, Capacity{high.bytes - low.bytes}};
    auto weigh = [&](const CutChoice& c) { return w.bytes * c.bytes + w.cost * c.cost; };
    CutChoice next = minimum_cut(p, w);
    if (weigh(next) >= weigh(low)) return low;
    (next.bytes <= budget ? low : high) = std::move(next);
  }
}

// Saves instead of recomputing what spares most cost a byte, while it fits.
CutChoice spend_rest(const CutProblem& p, int64_t budget, CutChoice choice) {
  int64_t trials = 0;
  while (trials < kMostTrials) {
    std::optional<CutChoice> best;
    for (size_t n = 0; n < p.nodes.size(); ++n) {
      if (!choice.recompute[n]) continue;
      ++trials;
      std::vector<bool> without = choice.recompute;
      without[n] = false;
      std::optional<CutChoice> trial = follow(p, std::move(without));
      if (!trial || trial->bytes <= choice.bytes || trial->bytes > budget || trial->cost >= choice.cost) continue;
      auto spared = [&](const CutChoice& c) { return Capacity{choice.cost - c.cost}; };
      auto spent = [&](const CutChoice& c) { return Capacity{c.bytes - choice.bytes}; };
      if (!best || spared(*trial) * spent(*best) > spared(*best) * spent(*trial)) best = std::move(trial);
    }
    if (!best) break;
    choice = std::move(*best);
  }
  return choice;
}

}  // namespace

std::optional<CutChoice> follow(const CutProblem& p, std::vector<bool> recompute) {
  CutChoice c;
  c.save.assign(p.values.size(), false);
  std::vector<bool> needed(p.values.size());
  for (size_t v = 0; v < p.values.size(); ++v) needed[v] = p.values[v].needed;
  for (size_t n = p.nodes.size(); n-- > 0;) {
    bool any = false;
    for (int32_t v : p.nodes[n].outputs) any = any || needed[static_cast<size_t>(v)];
    recompute[n] = recompute[n] && any;
    if (!recompute[n]) continue;
    c.cost += p.nodes[n].cost;
    for (int32_t v : p.nodes[n].operands) needed[static_cast<size_t>(v)] = true;
  }
  for (size_t v = 0; v < p.values.size(); ++v) {
    const CutProblem::Value& value = p.values[v];
    if (!needed[v] || (value.node >= 0 && recompute[static_cast<size_t>(value.node)])) continue;
    if (!value.may_save) return std::nullopt;
    c.save[v] = true;
    c.bytes += value.bytes;
  }
  c.recompute = std::move(recompute);
  return c;
}

CutChoice fewest_bytes(const CutProblem& p) { return minimum_cut(p, {total_cost(p) + 1, 1}); }

std::optional<CutChoice> least_cost_within(const CutProblem& p, int64_t budget) {
  CutChoice low = fewest_bytes(p);
  if (low.bytes > budget) return std::nullopt;
  CutChoice high = minimum_cut(p, {1, total_bytes(p) + 1});
  if (high.bytes <= budget) return high;
  return spend_rest(p, budget, corner_within(p, budget, std::move(low), std::move(high)));
}

}  // namespace fuselet::partition
