// Drops nodes whose values nobody reads. Random nodes stay: a draw counts whether its result is used or not.
//
//   %2 = exp(%0); %3 = neg(%0); output %3   ->   %2 = neg(%0); output %2
#pragma once
#include "compiler/ir/graph.h"

namespace fuselet {

// True: it changed something.
bool eliminate_dead_code(ir::Graph& graph);

}  // namespace fuselet
