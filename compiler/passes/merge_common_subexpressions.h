// Computes a value once that several equal nodes compute: same operator, same operands, same plain arguments. Never two
// random draws, never two reads of a cell with an advance of it between them, and never two results of the graph. The
// kept node takes the origins of both.
//
//   %2 = exp(%0); %3 = exp(%0); %4 = add(%2, %3)   ->   %2 = exp(%0); %3 = add(%2, %2)
#pragma once
#include "compiler/ir/graph.h"

namespace fuselet {

// True: it changed something.
bool merge_common_subexpressions(ir::Graph& graph);

}  // namespace fuselet
