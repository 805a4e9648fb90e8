// Which values the caller of a graph gets to see memory of: results, writes and gradients, and what those are views of.
// A pass must not make two of them one, or one of them an input.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace fuselet::ir {

std::vector<bool> escaping_values(const Graph& graph);

}  // namespace fuselet::ir
