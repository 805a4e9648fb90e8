#include "compiler/partition/cut_problem.h"

#include <algorithm>

#include "compiler/partition/max_flow.h"
#include "core/error.h"

namespace fuselet::partition {
namespace {

// Minimum cuts, and choices followed between the corners. For a thousand nodes the one takes milliseconds and the other
// tens of microseconds, so both together stay below a second.
constexpr size_t kMostCorners = 48;
constexpr int64_t kMostTrials = 8192;

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

// The corners from `low` to `high`: between two neighbours, the choice furthest below the line through them.
std::vector<CutChoice> corners_of(const CutProblem& p, CutChoice low, CutChoice high) {
  std::vector<CutChoice> corners = {std::move(low), std::move(high)};
  for (size_t i = 0; i + 1 < corners.size();) {
    const CutChoice &left = corners[i], &right = corners[i + 1];
    Weights w{Capacity{left.cost - right.cost}, Capacity{right.bytes - left.bytes}};
    auto weigh = [&](const CutChoice& c) { return w.bytes * c.bytes + w.cost * c.cost; };
    std::optional<CutChoice> next;
    if (corners.size() < kMostCorners) next = minimum_cut(p, w);
    if (next && weigh(*next) < weigh(left)) {
      corners.insert(corners.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(*next));
    } else {
      ++i;
    }
  }
  return corners;
}

// Decides as one corner up to a node and as the other behind it, both ways round, at evenly spaced nodes.
void add_mixtures(const CutProblem& p, const CutChoice& low, const CutChoice& high, int64_t trials,
                  std::vector<CutChoice>* out) {
  int64_t num_nodes = static_cast<int64_t>(p.nodes.size());
  int64_t stride = std::max<int64_t>(1, 2 * num_nodes / std::max<int64_t>(1, trials));
  for (int64_t k = stride; k < num_nodes; k += stride) {
    for (bool low_first : {false, true}) {
      std::vector<bool> mixed = low_first ? low.recompute : high.recompute;
      const std::vector<bool>& rest = low_first ? high.recompute : low.recompute;
      std::copy(rest.begin() + k, rest.end(), mixed.begin() + k);
      if (std::optional<CutChoice> c = follow(p, std::move(mixed))) out->push_back(std::move(*c));
    }
  }
}

// The node whose saving spares most cost a byte, with fewer bytes than `limit` in all.
std::optional<CutChoice> saving_one_more(const CutProblem& p, const CutChoice& now, int64_t limit, int64_t* trials) {
  std::optional<CutChoice> best;
  for (size_t n = 0; n < p.nodes.size() && *trials > 0; ++n) {
    if (!now.recompute[n]) continue;
    --*trials;
    std::vector<bool> without = now.recompute;
    without[n] = false;
    std::optional<CutChoice> trial = follow(p, std::move(without));
    if (!trial || trial->bytes <= now.bytes || trial->bytes >= limit || trial->cost >= now.cost) continue;
    auto spared = [&](const CutChoice& c) { return Capacity{now.cost - c.cost}; };
    auto spent = [&](const CutChoice& c) { return Capacity{c.bytes - now.bytes}; };
    if (!best || spared(*trial) * spent(*best) > spared(*best) * spent(*trial)) best = std::move(trial);
  }
  return best;
}

// Rising bytes, falling costs; of many, the ends and evenly spaced ones.
std::vector<CutChoice> staircase(std::vector<CutChoice> all) {
  std::stable_sort(all.begin(), all.end(), [](const CutChoice& a, const CutChoice& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.cost < b.cost;
  });
  std::vector<CutChoice> steps;
  for (CutChoice& c : all) {
    if (steps.empty() || c.cost < steps.back().cost) steps.push_back(std::move(c));
  }
  int64_t low = steps.front().bytes, high = steps.back().bytes;
  int64_t gap = steps.size() <= kMostChoices ? 0 : (high - low) / static_cast<int64_t>(kMostChoices - 2);
  std::vector<CutChoice> out;
  for (size_t i = 0; i < steps.size(); ++i) {
    bool last = i + 1 == steps.size();
    if (i == 0 || last || steps[i].bytes - out.back().bytes > gap) out.push_back(std::move(steps[i]));
  }
  return out;
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

std::vector<CutChoice> frontier(const CutProblem& p) {
  CutChoice low = fewest_bytes(p);
  CutChoice high = minimum_cut(p, {1, total_bytes(p) + 1});
  if (high.bytes <= low.bytes) return {std::move(high)};
  std::vector<CutChoice> corners = corners_of(p, std::move(low), std::move(high));
  std::vector<CutChoice> all = corners;
  int64_t share = kMostTrials / static_cast<int64_t>(corners.size());  // of the trials, half to each way
  for (size_t i = 0; i + 1 < corners.size(); ++i) {
    add_mixtures(p, corners[i], corners[i + 1], share / 2, &all);
    int64_t trials = share / 2;
    std::optional<CutChoice> next = corners[i];
    while (trials > 0 && (next = saving_one_more(p, *next, corners[i + 1].bytes, &trials))) all.push_back(*next);
  }
  return staircase(std::move(all));
}

}  // namespace fuselet::partition
