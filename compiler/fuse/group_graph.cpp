#include "compiler/fuse/group_graph.h"

#include <algorithm>

namespace fuselet::fuse {
namespace {

void add_once(std::vector<int32_t>& list, int32_t x) {
  if (std::find(list.begin(), list.end(), x) == list.end()) list.push_back(x);
}

}  // namespace

GroupGraph::GroupGraph(const lower::GraphFacts& facts)
    : facts_(facts),
      base_readers_(facts.graph.values.size()),
      group_of_(facts.graph.nodes.size(), -1),
      members_(facts.graph.nodes.size()),
      successors_(facts.graph.nodes.size()) {
  const ir::Graph& g = facts.graph;
  auto is_view = [&](const ir::Node& node) { return op_of(node.op).kind == OpKind::View; };
  // What loops compute for themselves is needed in memory only by a call or the caller.
  std::vector<bool> in_memory(g.nodes.size(), false);
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    in_memory[i] = !facts.is_inlined[i];
    for (ir::ValueId v : g.nodes[i].outputs) in_memory[i] = in_memory[i] || facts.escapes[static_cast<size_t>(v)];
    if (!facts.is_call[i]) continue;
    for (ir::ValueId base : facts.read_by(static_cast<int32_t>(i))) {
      if (facts.node_of(base) >= 0) in_memory[static_cast<size_t>(facts.node_of(base))] = true;
    }
  }
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    if (is_view(g.nodes[i]) || !in_memory[i]) continue;
    for (ir::ValueId base : facts.read_by(static_cast<int32_t>(i))) {
      add_once(base_readers_[static_cast<size_t>(base)], static_cast<int32_t>(i));
      if (facts.node_of(base) >= 0)
        add_once(successors_[static_cast<size_t>(facts.node_of(base))], static_cast<int32_t>(i));
    }
  }
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const int32_t n = static_cast<int32_t>(i);
    // A draw that nobody reads is computed by no loop.
    if (is_view(g.nodes[i]) || !in_memory[i] || (!facts.is_call[i] && stored(std::span(&n, 1)).empty())) continue;
    group_of_[i] = n;
    members_[i] = {n};
  }
}

std::vector<int32_t> GroupGraph::live() const {
  std::vector<int32_t> out;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].empty()) out.push_back(static_cast<int32_t>(i));
  }
  return out;
}

std::vector<ir::ValueId> GroupGraph::reads(std::span<const int32_t> nodes) const {
  std::vector<ir::ValueId> out;
  for (int32_t n : nodes) {
    for (ir::ValueId base : facts_.read_by(n)) {
      const int32_t from = facts_.node_of(base);
      if (from < 0 || !std::binary_search(nodes.begin(), nodes.end(), from)) add_once(out, base);
    }
  }
  return out;
}

std::vector<ir::ValueId> GroupGraph::stored(std::span<const int32_t> nodes) const {
  std::vector<ir::ValueId> out;
  for (int32_t n : nodes) {
    for (ir::ValueId v : facts_.graph.nodes[static_cast<size_t>(n)].outputs) {
      bool needed = facts_.escapes[static_cast<size_t>(v)];
      for (int32_t reader : base_readers_[static_cast<size_t>(v)])
        needed |= !std::binary_search(nodes.begin(), nodes.end(), reader);
      if (needed) out.push_back(v);
    }
  }
  return out;
}

int64_t GroupGraph::bytes_of(ir::ValueId base) const {
  const TensorMeta& m = facts_.meta(base);
  return numel_of(m.sizes).concrete() * static_cast<int64_t>(size_of(m.dtype));
}

bool GroupGraph::reaches(int32_t from, int32_t to, bool direct_counts) const {
  std::vector<bool> seen(members_.size(), false);
  std::vector<int32_t> open;
  auto visit_successors = [&](int32_t group, bool first) {
    for (int32_t n : members_[static_cast<size_t>(group)]) {
      for (int32_t s : successors_[static_cast<size_t>(n)]) {
        const int32_t next = group_of_[static_cast<size_t>(s)];
        if (next < 0 || next == group || seen[static_cast<size_t>(next)]) continue;
        if (next == to && first && !direct_counts) continue;
        seen[static_cast<size_t>(next)] = true;
        open.push_back(next);
      }
    }
  };
  visit_successors(from, true);
  while (!open.empty()) {
    const int32_t at = open.back();
    open.pop_back();
    if (at == to) return true;
    visit_successors(at, false);
  }
  return false;
}

bool GroupGraph::is_separated(int32_t a, int32_t b) const { return reaches(a, b, false) || reaches(b, a, false); }
bool GroupGraph::depends(int32_t b, int32_t a) const { return reaches(a, b, true); }

void GroupGraph::merge(int32_t a, int32_t b) {
  std::vector<int32_t>&to = members_[static_cast<size_t>(a)], &from = members_[static_cast<size_t>(b)];
  for (int32_t n : from) group_of_[static_cast<size_t>(n)] = a;
  std::vector<int32_t> both;
  std::merge(to.begin(), to.end(), from.begin(), from.end(), std::back_inserter(both));
  to = std::move(both);
  from.clear();
}

}  // namespace fuselet::fuse
