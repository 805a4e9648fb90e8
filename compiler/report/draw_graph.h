// Drawings of graphs: one box an input, a node, an output; an arrow for each value that a node reads.
#pragma once
#include "compiler/partition/partition.h"
#include "compiler/report/drawing.h"
#include "compiler/report/report.h"

namespace fuselet::report {

// With kernel groups, the nodes of each stand in one group.
Drawing draw_graph(const ir::Graph& graph, std::span<const KernelGroup> groups = {});

// The joint graph with the cut: what is saved and what is recomputed, and the arrows that cross.
Drawing draw_cut(const ir::Graph& joint, const Partition& partition);

}  // namespace fuselet::report
