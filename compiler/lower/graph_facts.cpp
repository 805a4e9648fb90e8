#include <algorithm>

#include "compiler/lower/nest_builder.h"

namespace fuselet::lower {
namespace {

// Constants, positions, and arithmetic on them.
bool reads_no_memory(const GraphFacts& facts, const ir::Node& node) {
  const Op& op = op_of(node.op);
  if (op.kind != OpKind::Factory && op.kind != OpKind::Pointwise) return false;
  bool sources = true;
  ir::for_each_operand(node, [&](ir::ValueId v) {
    const int32_t from = facts.node_of(facts.base[static_cast<size_t>(v)]);
    sources &= from >= 0 && facts.is_inlined[static_cast<size_t>(from)] &&
               reads_no_memory(facts, facts.graph.nodes[static_cast<size_t>(from)]);
  });
  return sources;
}

// The same elements in a wider dtype.
bool widens(const GraphFacts& facts, const ir::Node& node) {
  const Op& op = op_of(node.op);
  if (op.kind != OpKind::Pointwise || std::string_view(op.formula) != "identity") return false;
  const TensorMeta &from = facts.meta(std::get<ir::ValueRef>(node.args[0]).id), &to = facts.meta(node.outputs[0]);
  return size_of(from.dtype) < size_of(to.dtype);
}

bool is_view(const ir::Node& node) { return op_of(node.op).kind == OpKind::View; }

bool lowers_alone(const GraphFacts& facts, int32_t n) {
  const ir::Node& node = facts.graph.nodes[static_cast<size_t>(n)];
  return loop_rule(facts.graph, node) && std::holds_alternative<BuiltNest>(build_nest(facts, {n}, node.outputs));
}

}  // namespace

GraphFacts::GraphFacts(const ir::Graph& g, Numerics n, const ir::Graph* r)
    : graph(g),
      numerics(n),
      recorded(r),
      base(g.values.size()),
      escapes(g.values.size(), false),
      is_call(g.nodes.size(), false),
      is_inlined(g.nodes.size(), false),
      advanced(g.nodes.size() * g.cells.size(), 0.0) {
  for (size_t v = 0; v < base.size(); ++v) base[v] = static_cast<ir::ValueId>(v);
  size_t next_advance = 0;
  std::vector<double> sums(g.cells.size(), 0.0);
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const ir::Node& node = g.nodes[i];
    for (; next_advance < g.advances.size() && static_cast<size_t>(g.advances[next_advance].before_node) <= i;
         ++next_advance) {
      const ir::Advance& a = g.advances[next_advance];
      sums[static_cast<size_t>(a.cell.index)] += a.by;
    }
    for (size_t c = 0; c < sums.size(); ++c) advanced[i * sums.size() + c] = sums[c];
    if (is_view(node)) {
      const ir::ValueId from = std::get<ir::ValueRef>(node.args[0]).id;
      base[static_cast<size_t>(node.outputs[0])] = base[static_cast<size_t>(from)];
      continue;
    }
    is_call[i] = !lowers_alone(*this, static_cast<int32_t>(i));
    is_inlined[i] = !is_call[i] && node.draw < 0 && (reads_no_memory(*this, node) || widens(*this, node));
  }
  for (ir::ValueId v : g.outputs) escapes[static_cast<size_t>(base[static_cast<size_t>(v)])] = true;
  for (const std::vector<ir::Write>* list : {&g.writes, &g.grads}) {
    for (const ir::Write& w : *list) escapes[static_cast<size_t>(base[static_cast<size_t>(w.value)])] = true;
  }
}

std::vector<ir::ValueId> GraphFacts::read_by(int32_t n) const {
  std::vector<ir::ValueId> out;
  const ir::Node& node = graph.nodes[static_cast<size_t>(n)];
  auto add = [&](ir::ValueId v) {
    if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
  };
  ir::for_each_operand(node, [&](ir::ValueId v) {
    const ir::ValueId from = base[static_cast<size_t>(v)];
    const int32_t maker = node_of(from);
    if (is_call[static_cast<size_t>(n)] || maker < 0 || !is_inlined[static_cast<size_t>(maker)]) return add(from);
    for (ir::ValueId inner : read_by(maker)) add(inner);
  });
  return out;
}

bool is_boundary_cast(const ir::Node& node) { return node.boundary; }

}  // namespace fuselet::lower
