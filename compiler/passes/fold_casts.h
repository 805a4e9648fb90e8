// A cast of a cast becomes one where no value can tell: the inner one is exact, and the outer one gives from its result
// what it gives from its operand. A cast that rounds stays, the user's and boundaries alike.
//
//   %1: f32 = cast(%0: bf16); %2: f64 = cast(%1)   ->   %2: f64 = cast(%0)
//   %1: f32 = cast(%0: bf16); %2: bf16 = cast(%1)  ->   %0
#pragma once
#include "compiler/ir/graph.h"

namespace fuselet {

// True: it changed something.
bool fold_casts(ir::Graph& graph);

}  // namespace fuselet
