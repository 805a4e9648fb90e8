#include "compiler/ir/escaping_values.h"

#include <algorithm>

namespace fuselet::ir {

std::vector<bool> escaping_values(const Graph& g) {
  std::vector<bool> escaping(g.values.size(), false);
  auto mark = [&](ValueId v) { escaping[static_cast<size_t>(v)] = true; };
  std::for_each(g.outputs.begin(), g.outputs.end(), mark);
  for (const Write& w : g.writes) mark(w.value);
  for (const Write& w : g.grads) mark(w.value);
  for (auto node = g.nodes.rbegin(); node != g.nodes.rend(); ++node) {
    if (op_of(node->op).kind == OpKind::View && escaping[static_cast<size_t>(node->outputs[0])])
      mark(std::get<ir::ValueRef>(node->args[0]).id);
  }
  return escaping;
}

}  // namespace fuselet::ir
