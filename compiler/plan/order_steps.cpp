#include <algorithm>
#include <limits>

#include "compiler/plan/steps.h"

namespace fuselet::plan {
namespace {

class StepGraph {
 public:
  StepGraph(const lower::GraphFacts& facts, const std::vector<Step>& steps) : facts_(facts), steps_(steps) {
    maker_.assign(facts.graph.values.size(), -1);
    for (size_t i = 0; i < steps.size(); ++i) {
      for (ir::ValueId v : steps[i].writes) maker_[static_cast<size_t>(v)] = static_cast<int>(i);
    }
    after_.resize(steps.size());
    for (size_t i = 0; i < steps.size(); ++i) {
      for (ir::ValueId v : steps[i].reads) {
        if (maker_[static_cast<size_t>(v)] >= 0) add_edge(static_cast<size_t>(maker_[static_cast<size_t>(v)]), i);
      }
    }
  }

  int maker(ir::ValueId v) const { return maker_[static_cast<size_t>(v)]; }
  void add_edge(size_t first, size_t then) { after_[first].push_back(then); }
  void remove_last_edge(size_t first) { after_[first].pop_back(); }

  bool reaches(size_t from, size_t to) const {
    std::vector<bool> seen(steps_.size(), false);
    std::vector<size_t> open = {from};
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      if (at == to) return true;
      for (size_t next : after_[at]) {
        if (!seen[next]) open.push_back(next);
        seen[next] = true;
      }
    }
    return false;
  }

  // Makes every step of `first` come before `then`; false, and nothing changed, if one cannot.
  bool put_before(const std::vector<size_t>& first, size_t then) {
    for (size_t s : first) {
      if (reaches(then, s)) return false;
    }
    for (size_t s : first) add_edge(s, then);
    return true;
  }

  std::vector<size_t> sorted() const;

 private:
  int64_t bytes_of(ir::ValueId v) const {
    const TensorMeta& m = facts_.meta(v);
    return numel_of(m.sizes).concrete() * static_cast<int64_t>(size_of(m.dtype));
  }
  // The place in the program: of the last node that a kernel computes.
  int32_t place_of(size_t i) const {
    int32_t place = steps_[i].node;
    for (ir::ValueId v : steps_[i].writes) place = std::max(place, facts_.node_of(v));
    return place;
  }

  const lower::GraphFacts& facts_;
  const std::vector<Step>& steps_;
  std::vector<int> maker_;
  std::vector<std::vector<size_t>> after_;
};

std::vector<size_t> StepGraph::sorted() const {
  std::vector<int> waits(steps_.size(), 0), readers(facts_.graph.values.size(), 0);
  for (const auto& list : after_) {
    for (size_t s : list) ++waits[s];
  }
  for (const Step& s : steps_) {
    for (ir::ValueId v : s.reads) ++readers[static_cast<size_t>(v)];
  }
  std::vector<int32_t> place;
  for (size_t i = 0; i < steps_.size(); ++i) place.push_back(place_of(i));
  // Bytes that are alive after the step beside those before it.
  auto growth = [&](size_t i) {
    int64_t bytes = 0;
    for (ir::ValueId v : steps_[i].writes) {
      if (!facts_.escapes[static_cast<size_t>(v)]) bytes += bytes_of(v);
    }
    for (ir::ValueId v : steps_[i].reads) {
      const bool dies =
          readers[static_cast<size_t>(v)] == 1 && maker(v) >= 0 && !facts_.escapes[static_cast<size_t>(v)];
      if (dies) bytes -= bytes_of(v);
    }
    return bytes;
  };
  std::vector<size_t> ready, out;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (waits[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    // What frees memory goes first; what needs more waits for its place in the program.
    auto next = std::min_element(ready.begin(), ready.end(), [&](size_t a, size_t b) {
      const int64_t x = std::min<int64_t>(growth(a), 0), y = std::min<int64_t>(growth(b), 0);
      return x != y ? x < y : place[a] < place[b];
    });
    const size_t i = *next;
    ready.erase(next);
    out.push_back(i);
    for (ir::ValueId v : steps_[i].reads) --readers[static_cast<size_t>(v)];
    for (size_t s : after_[i]) {
      if (--waits[s] == 0) ready.push_back(s);
    }
  }
  return out;
}

bool is_plain_target(const lower::GraphFacts& facts, const ir::Write& w) {
  const ir::Graph& g = facts.graph;
  const TensorMeta &value = facts.meta(w.value), &input = facts.meta(g.inputs[static_cast<size_t>(w.input)].value);
  if (facts.base[static_cast<size_t>(w.value)] != w.value || facts.node_of(w.value) < 0) return false;
  if (value.dtype != input.dtype || !same_sizes(value.strides, input.strides)) return false;
  // What also goes elsewhere needs memory of its own.
  int uses = 0;
  for (ir::ValueId v : g.outputs) uses += facts.base[static_cast<size_t>(v)] == w.value;
  for (const std::vector<ir::Write>* list : {&g.writes, &g.grads}) {
    for (const ir::Write& other : *list) uses += facts.base[static_cast<size_t>(other.value)] == w.value;
  }
  return uses == 1;
}

// Outputs, gradients and other writes may hold the input's old memory, too.
bool old_value_escapes(const lower::GraphFacts& facts, ir::ValueId input) {
  return facts.escapes[static_cast<size_t>(input)];
}

}  // namespace

Order order_steps(const lower::GraphFacts& facts, const std::vector<lower::LoweredKernel>& kernels,
                  std::vector<Step> steps) {
  StepGraph graph(facts, steps);
  const ir::Graph& g = facts.graph;
  std::vector<size_t> fallible;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].may_fail) fallible.push_back(i);
  }
  Order out;
  for (size_t w = 0; w < g.writes.size(); ++w) {
    const ir::ValueId input = g.inputs[static_cast<size_t>(g.writes[w].input)].value;
    if (!is_plain_target(facts, g.writes[w]) || old_value_escapes(facts, input)) continue;
    const auto maker = static_cast<size_t>(graph.maker(g.writes[w].value));
    if (steps[maker].kernel < 0 || steps[maker].may_fail || call_reads(facts, steps[maker], input)) continue;
    if (!may_overwrite(kernels[static_cast<size_t>(steps[maker].kernel)], input, g.writes[w].value)) continue;
    std::vector<size_t> before = fallible;
    for (size_t i = 0; i < steps.size(); ++i) {
      if (i != maker && std::find(steps[i].reads.begin(), steps[i].reads.end(), input) != steps[i].reads.end())
        before.push_back(i);
    }
    if (graph.put_before(before, maker)) out.in_place.push_back({w, maker});
  }
  const std::vector<size_t> order = graph.sorted();
  FUSELET_INTERNAL_CHECK(order.size() == steps.size(), "[plan] the steps wait for one another");
  std::vector<size_t> position(steps.size());
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  for (InPlaceWrite& p : out.in_place) p.step = position[p.step];
  for (size_t i : order) out.steps.push_back(std::move(steps[i]));
  return out;
}

}  // namespace fuselet::plan
