// Readers of an alias, of a clone, or of a cast to the same dtype take what it was made from: in a graph nothing is
// written in place, so a copy is never needed. A clone into another memory layout stays where the layout matters, and
// any stays that is a result of the graph or seen through one: a result must not share memory with an input.
//
//   %1 = alias(%0); %2 = exp(%1)   ->   %1 = exp(%0)
#pragma once
#include "compiler/ir/graph.h"

namespace fuselet {

// True: it changed something.
bool forward_identities(ir::Graph& graph);

}  // namespace fuselet
