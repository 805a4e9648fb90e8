// Carries a choice out: the forward and the backward graph.
#pragma once
#include "compiler/partition/joint_analysis.h"
#include "compiler/partition/partition.h"

namespace fuselet::partition {

// A recomputed value stays until the last node that reads it.
inline constexpr int32_t kKeepAll = INT32_MAX;

// Fills graphs, saved values and scalars; returns how often the backward runs each of the joint graph's nodes. Nodes
// stand in the joint graph's order; a recomputed one stands right before the first node that reads it. A recomputed
// value that none of the next `keep_for` nodes of the backward reads is given up after the node at hand, and computed
// once more when it is needed: more work, a lower peak. Empty if that takes more than kMostGrowth times the nodes of
// the joint graph.
inline constexpr size_t kMostGrowth = 16;
std::vector<int32_t> split_graph(const ir::Graph& joint, const Sides& sides, const CutChoice& choice,
                                 size_t num_forward_outputs, int32_t keep_for, Partition* out);

}  // namespace fuselet::partition
