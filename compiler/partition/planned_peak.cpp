#include "compiler/partition/planned_peak.h"

#include <algorithm>

#include "compiler/partition/recompute_table.h"

namespace fuselet::partition {
namespace {

size_t at(int32_t i) { return static_cast<size_t>(i); }

// The value whose memory a value lies in.
std::vector<ir::ValueId> owners(const ir::Graph& g) {
  std::vector<ir::ValueId> owner(g.values.size());
  for (size_t v = 0; v < owner.size(); ++v) owner[v] = static_cast<ir::ValueId>(v);
  for (const ir::Node& node : g.nodes) {
    if (op_of(node.op).kind != OpKind::View) continue;
    for_each_operand(node, [&](ir::ValueId v) { owner[at(node.outputs[0])] = owner[at(v)]; });
  }
  return owner;
}

// The most that the nodes' own values take at a time.
int64_t peak_of(const ir::Graph& g) {
  std::vector<ir::ValueId> owner = owners(g);
  std::vector<size_t> last(g.values.size(), 0);
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    for (ir::ValueId v : g.nodes[n].outputs) last[at(owner[at(v)])] = n;
    for_each_operand(g.nodes[n], [&](ir::ValueId v) { last[at(owner[at(v)])] = n; });
  }
  for (ir::ValueId v : g.outputs) last[at(owner[at(v)])] = g.nodes.size();
  for (const ir::Write& w : g.writes) last[at(owner[at(w.value)])] = g.nodes.size();
  std::vector<int64_t> dies(g.nodes.size() + 1, 0);
  int64_t alive = 0, peak = 0;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    for (ir::ValueId v : g.nodes[n].outputs) {
      if (owner[at(v)] != v) continue;
      alive += bytes_of(g.meta(v));
      dies[last[at(v)]] += bytes_of(g.meta(v));
    }
    peak = std::max(peak, alive);
    alive -= dies[n];
  }
  return peak;
}

}  // namespace

int64_t planned_peak(const Partition& p) {
  int64_t held = 0, copied = 0;  // while the backward runs; of inputs that the forward overwrites
  for (const SavedValue& s : p.saved) {
    held += s.bytes;
    if (s.output >= 0 && p.forward.values[at(p.forward.outputs[at(s.output)])].node < 0) copied += s.bytes;
  }
  for (const ir::Input& in : p.backward.inputs) {
    if (in.kind == ir::InputKind::Tangent) held += bytes_of(p.backward.meta(in.value));
  }
  return std::max(peak_of(p.forward) + copied, held + peak_of(p.backward));
}

}  // namespace fuselet::partition
