// Which nodes may stand in a graph after each stage: what the next stage builds on. Grows stricter from stage to stage.
//
//   Trace       every operator of the table but composites
//   Decompose   primitives alone (rows without a decomposition); dtypes explicit as
//   compiler/decompose/explicit_dtypes.h
//               says; views and sources spelled out (canonical_views.h, canonical_sources.h)
//   Passes      the same, and every node's value is read or a result, unless it is a draw
//   Partition   the same as after the passes
#pragma once
#include "compiler/ir/graph.h"

namespace fuselet::ir {

enum class Stage : uint8_t { Trace, Decompose, Passes, Partition };
const char* name_of(Stage stage);

// By value: whether a node, a result or a write reads it.
std::vector<bool> values_in_use(const Graph& graph);

// Why the node may not stand in a graph that has come through the stage; empty if it may.
std::string why_illegal(const Graph& graph, const Node& node, Stage stage);

// verify(graph), and InternalError naming the stage and the first node that may not stand there.
void verify(const Graph& graph, Stage stage);

}  // namespace fuselet::ir
