#include "compiler/passes/eliminate_dead_code.h"

#include <algorithm>

#include "compiler/passes/rewrite.h"

namespace fuselet {

bool eliminate_dead_code(ir::Graph& g) {
  std::vector<bool> read(g.values.size(), false);
  auto mark = [&](ir::ValueId v) { read[static_cast<size_t>(v)] = true; };
  std::for_each(g.outputs.begin(), g.outputs.end(), mark);
  for (const ir::Write& w : g.writes) mark(w.value);
  for (const ir::Write& w : g.grads) mark(w.value);
  Rewrite rewrite(g);
  bool changed = false;
  for (size_t n = g.nodes.size(); n-- > 0;) {
    const ir::Node& node = g.nodes[n];
    bool live = node.draw >= 0 || std::any_of(node.outputs.begin(), node.outputs.end(),
                                              [&](ir::ValueId v) { return read[static_cast<size_t>(v)]; });
    if (live) {
      for_each_operand(node, mark);
    } else {
      rewrite.keep[n] = false;
      changed = true;
    }
  }
  if (changed) apply(g, rewrite);
  return changed;
}

}  // namespace fuselet
