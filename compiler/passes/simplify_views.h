// Fewer views, and views where they save work:
//
//   view of a view, permute of a permute, expand of an expand, slice of a slice along the same dimension -> one
//   a view that changes nothing                        -> what it views
//   y = exp(x); z = slice(y)    (y read by z alone)    -> z = exp(slice(x)): only what is read is computed
//   y = exp(x); z = permute(y)  (y read by z alone)    -> z = exp(permute(x)), which fuses with its readers
//   sum(x, [0], keepdim) viewed without that dimension -> sum(x, [0])
//   y = mul(expand(x), w) where w has the result's sizes    -> mul(x, w): operands broadcast by themselves
//
// A view stays below its operator where the strides of the result matter (a result of the graph, as_strided), and where
// the operator reads a cell.
#pragma once
#include "compiler/ir/graph.h"

namespace fuselet {

// True: it changed something.
bool simplify_views(ir::Graph& graph);

}  // namespace fuselet
