// What a pass decides, and the one place that carries it out.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace fuselet {

struct Rewrite {
  std::vector<ir::ValueId> replacement;  // for each value, the value that its readers take instead (itself: none)
  std::vector<bool> keep;                // for each node

  explicit Rewrite(const ir::Graph& graph);
  // The end of the chain of replacements.
  ir::ValueId resolve(ir::ValueId v) const;
};

// Redirects readers, drops nodes, renumbers values and keeps advances and draws in place.
// Entry: nothing that is kept reads a value of a node that is dropped.
void apply(ir::Graph& graph, const Rewrite& rewrite);

}  // namespace fuselet
