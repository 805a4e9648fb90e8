#include "compiler/passes/rewrite.h"

#include <numeric>

namespace fuselet {

Rewrite::Rewrite(const ir::Graph& graph) : replacement(graph.values.size()), keep(graph.nodes.size(), true) {
  std::iota(replacement.begin(), replacement.end(), 0);
}

ir::ValueId Rewrite::resolve(ir::ValueId v) const {
  while (replacement[static_cast<size_t>(v)] != v) v = replacement[static_cast<size_t>(v)];
  return v;
}

void apply(ir::Graph& g, const Rewrite& rewrite) {
  auto redirect = [&](ir::ValueId& v) { v = rewrite.resolve(v); };
  std::vector<ir::Node> nodes;
  std::vector<int32_t> position(g.nodes.size() + 1, 0);  // of each old node among the kept ones
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    position[n] = static_cast<int32_t>(nodes.size());
    if (!rewrite.keep[n]) continue;
    for (ir::GraphArg& arg : g.nodes[n].args) {
      if (auto* v = std::get_if<ir::ValueRef>(&arg)) redirect(v->id);
      if (auto* list = std::get_if<std::vector<ir::ValueRef>>(&arg)) {
        for (ir::ValueRef& v : *list) redirect(v.id);
      }
    }
    for (ir::ValueId v : g.nodes[n].outputs) g.values[static_cast<size_t>(v)].node = static_cast<int32_t>(nodes.size());
    nodes.push_back(std::move(g.nodes[n]));
  }
  position.back() = static_cast<int32_t>(nodes.size());
  g.nodes = std::move(nodes);
  for (ir::Advance& a : g.advances) a.before_node = position[static_cast<size_t>(a.before_node)];
  for (ir::ValueId& v : g.outputs) redirect(v);
  for (std::vector<ir::Write>* list : {&g.writes, &g.grads}) {
    for (ir::Write& w : *list) redirect(w.value);
  }
  ir::number_in_order(g);
}

}  // namespace fuselet
