// Carries a choice out: the forward and the backward graph.
#pragma once
#include "compiler/partition/joint_analysis.h"
#include "compiler/partition/partition.h"

namespace fuselet::partition {

// Fills graphs, saved values and scalars. Nodes stand in the joint graph's order; a recomputed one stands right before
// the first node that reads it.
void split_graph(const ir::Graph& joint, const Sides& sides, const CutChoice& choice, size_t num_forward_outputs,
                 Partition* out);

}  // namespace fuselet::partition
