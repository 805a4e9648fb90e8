// Which nests share a kernel: independent ones of one form side by side, small ones before or behind what they feed on.
#pragma once
#include <map>
#include <vector>

#include "compiler/fuse/fuse.h"
#include "compiler/fuse/group_graph.h"

namespace fuselet::fuse {

// `index`: the place in `groups` of each live group. Merges groups of `graph` on the way.
std::vector<FusedKernel> group_kernels(GroupGraph& graph, const std::vector<Group>& groups,
                                       const std::map<int32_t, int32_t>& index);

// True iff the nests differ in sizes and buffers alone, so that one function can serve both.
bool have_one_form(const kernel::Nest& a, const kernel::Nest& b);

}  // namespace fuselet::fuse
