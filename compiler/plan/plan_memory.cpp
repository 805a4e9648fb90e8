#include "compiler/plan/plan_memory.h"

#include <algorithm>

namespace fuselet::plan {
namespace {

// Bytes: a cache line, and the widest vector register.
constexpr int64_t kAlignment = 64;

// Values that share a place, and the steps between which it is taken.
struct Interval {
  std::vector<ir::ValueId> values;
  size_t first, last;
  int64_t bytes, offset = 0;
};

int64_t bytes_of(const TensorMeta& m) { return span_of(m.sizes, m.strides) * static_cast<int64_t>(size_of(m.dtype)); }
int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Largest first, each at the lowest offset where nothing that is alive at the same time lies.
int64_t pack(std::vector<Interval>& intervals) {
  std::vector<size_t> order(intervals.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return intervals[a].bytes > intervals[b].bytes; });
  std::vector<const Interval*> placed;  // by offset
  int64_t total = 0;
  for (size_t i : order) {
    Interval& x = intervals[i];
    int64_t at = 0;
    for (const Interval* p : placed) {
      const bool together = p->first <= x.last && x.first <= p->last;
      if (!together) continue;
      if (p->offset >= at + x.bytes) break;
      at = std::max(at, p->offset + p->bytes);
    }
    x.offset = at;
    total = std::max(total, at + x.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &x,
                                   [](const Interval* a, const Interval* b) { return a->offset < b->offset; }),
                  &x);
  }
  return total;
}

class MemoryPlanner {
 public:
  MemoryPlanner(const lower::GraphFacts& facts, const std::vector<lower::LoweredKernel>& kernels, const Order& order)
      : facts_(facts), kernels_(kernels), order_(order) {}

  MemoryPlan run() {
    const ir::Graph& g = facts_.graph;
    plan_.slots.resize(g.values.size());
    for (size_t i = 0; i < g.inputs.size(); ++i)
      slot(g.inputs[i].value) = {Place::Input, static_cast<int32_t>(i), 0, bytes_of(facts_.meta(g.inputs[i].value))};
    std::vector<bool> in_place(g.writes.size(), false);
    for (const InPlaceWrite& p : order_.in_place) {
      in_place[p.write] = true;
      const ir::Write& w = g.writes[p.write];
      slot(w.value) = {Place::Input, w.input, 0, bytes_of(facts_.meta(w.value))};
    }
    for (size_t w = 0; w < g.writes.size(); ++w) {
      if (!in_place[w]) plan_.copied_writes.push_back(w);
    }
    for (ir::ValueId v : g.outputs) give_own_storage(v);
    for (const ir::Write& w : g.grads) give_own_storage(w.value);
    fill_arena();
    return std::move(plan_);
  }

 private:
  Slot& slot(ir::ValueId v) { return plan_.slots[static_cast<size_t>(v)]; }

  void give_own_storage(ir::ValueId v) {
    const ir::ValueId base = facts_.base[static_cast<size_t>(v)];
    if (slot(base).place != Place::Nowhere) return;
    slot(base) = {Place::Output, static_cast<int32_t>(plan_.own_storage.size()), 0, bytes_of(facts_.meta(base))};
    plan_.own_storage.push_back(base);
  }

  void fill_arena() {
    const size_t end = order_.steps.size();
    std::vector<size_t> last(facts_.graph.values.size(), 0);
    for (size_t i = 0; i < end; ++i) {
      for (ir::ValueId v : order_.steps[i].reads) last[static_cast<size_t>(v)] = i;
    }
    for (size_t w : plan_.copied_writes)
      last[static_cast<size_t>(facts_.base[static_cast<size_t>(facts_.graph.writes[w].value)])] = end;
    std::vector<Interval> intervals;
    std::vector<int> interval_of(facts_.graph.values.size(), -1);
    for (size_t i = 0; i < end; ++i) {
      for (ir::ValueId v : order_.steps[i].writes) {
        if (slot(v).place != Place::Nowhere) continue;
        const int64_t bytes = aligned(std::max<int64_t>(bytes_of(facts_.meta(v)), 1));
        const size_t until = std::max(last[static_cast<size_t>(v)], i);
        plan_.unshared_bytes += bytes;
        const int donor = donor_of(i, v, bytes, last, interval_of, intervals);
        if (donor >= 0) {
          Interval& taken = intervals[static_cast<size_t>(donor)];
          taken.values.push_back(v);
          taken.last = until;
          ++plan_.taken_over;
          interval_of[static_cast<size_t>(v)] = donor;
          continue;
        }
        interval_of[static_cast<size_t>(v)] = static_cast<int>(intervals.size());
        intervals.push_back({{v}, i, until, bytes});
      }
    }
    plan_.arena_bytes = pack(intervals);
    for (const Interval& x : intervals) {
      for (ir::ValueId v : x.values) slot(v) = {Place::Arena, -1, x.offset, x.bytes};
    }
  }

  // The interval whose memory the value may take over: that of an operand of the step which dies in it.
  int donor_of(size_t step, ir::ValueId v, int64_t bytes, const std::vector<size_t>& last,
               const std::vector<int>& interval_of, const std::vector<Interval>& intervals) const {
    const Step& s = order_.steps[step];
    if (s.kernel < 0) return -1;
    // A call's own result, too: its kernel overwrites each part while it lies in cache. But never what the call reads.
    std::vector<ir::ValueId> operands = s.reads;
    if (s.node >= 0) operands.push_back(s.writes[0]);
    for (ir::ValueId operand : operands) {
      const bool is_result = s.node >= 0 && operand == s.writes[0];
      if (operand == v || call_reads(facts_, s, operand)) continue;
      const int candidate = interval_of[static_cast<size_t>(operand)];
      if (candidate < 0 || (!is_result && last[static_cast<size_t>(operand)] != step)) continue;
      const Interval& x = intervals[static_cast<size_t>(candidate)];
      if (x.values.back() != operand || x.bytes != bytes || x.last != step) continue;
      if (may_overwrite(kernels_[static_cast<size_t>(s.kernel)], operand, v)) return candidate;
    }
    return -1;
  }

  const lower::GraphFacts& facts_;
  const std::vector<lower::LoweredKernel>& kernels_;
  const Order& order_;
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan plan_memory(const lower::GraphFacts& facts, const std::vector<lower::LoweredKernel>& kernels,
                       const Order& order) {
  return MemoryPlanner(facts, kernels, order).run();
}

}  // namespace fuselet::plan
