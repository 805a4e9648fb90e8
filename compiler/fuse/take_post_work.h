// Gives products the pointwise nests over their results as post work.
//
//   call %3 = matmul; kernel: %4 = add(%3, %b); %5 = relu(%4)     ->   call %3 = matmul, on each part of it: %5
//
// A nest qualifies if it reads the result along rows and columns as they lie, varies over all of it, and nothing else
// has to run between the two.
#pragma once
#include <map>

#include "compiler/fuse/fuse.h"
#include "compiler/fuse/group_graph.h"

namespace fuselet::fuse {

// Takes the calls out of fusion->calls and the groups out of `index`, makes their nests Tiles, and returns their
// kernels.
std::vector<FusedKernel> take_post_work(GroupGraph& groups, const lower::GraphFacts& facts, TakesPostWork takes,
                                        Fusion* fusion, std::map<int32_t, int32_t>* index);

}  // namespace fuselet::fuse
