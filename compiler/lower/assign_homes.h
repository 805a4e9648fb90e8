// Gives nodes of a nest their places in it: for each dimension that a node iterates over, a coordinate in the dims of
// the nest. The node that iterates over most defines the nest, its dimensions cut finer where others of as many
// elements are cut finer.
//
// A home must agree with the homes of the reductions that the node reads, and follows those of stored nodes where it
// can; dimensions that nothing binds take the nest's free dims in order.
#pragma once
#include "compiler/lower/nest_builder.h"

namespace fuselet::lower {

// `nodes` in order; `anchors`: those that need a home. Throws Refusal.
std::unordered_map<int32_t, Home> assign_homes(const GraphFacts& facts, const std::vector<int32_t>& nodes,
                                               const std::vector<int32_t>& anchors, Extents* extents);

}  // namespace fuselet::lower
