// The decompose stage: operators that have a decomposition (core/decomposition.h) are replaced by it, level by level,
// until only primitives (PRIMITIVES.md) are left, with dtypes, views and sources spelled out (explicit_dtypes.h,
// canonical_views.h, canonical_sources.h). Interpreted on the CPU, the result has the bits of the original. Pure and
// deterministic; every new node keeps the origin of the one that it came from.
//
//   %1 = linear(%x, %w, %b)     ->   %1 = transpose(%w, 0, 1); %2 = matmul(%x, %1); %3 = add(%2, %b)
//
// Entry: a verified graph of concrete sizes. Exit: a graph that is legal after ir::Stage::Decompose, with the same
// inputs, cells, advances, draws, writes, grads and outputs, results in the same layout.
#pragma once
#include "compiler/ir/graph.h"

namespace fuselet {

// One level: only the operators that stand in `graph` itself. `changed` says whether there were any.
ir::Graph decompose_once(const ir::Graph& graph, bool* changed);
ir::Graph decompose(const ir::Graph& graph);

}  // namespace fuselet
