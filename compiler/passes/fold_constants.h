// What is known before the graph runs is computed now, by the very kernels that eager mode would run: a pointwise
// operator of constants, and a view of one, become a `full`; a constant operand becomes a number of the call. A cell is
// no constant.
//
//   %1 = full([], 2.0); %2 = neg(%1); %3 = mul(%0, %2)   ->   %3 = mul(%0, -2.0)      (the others are dead then)
#pragma once
#include "compiler/ir/graph.h"

namespace fuselet {

// True: it changed something.
bool fold_constants(ir::Graph& graph);

}  // namespace fuselet
