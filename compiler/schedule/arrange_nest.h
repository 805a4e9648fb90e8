// The schedule stage of a nest: picks its structure (compiler/lower/kernel.h) from which dims its reductions combine,
// puts the dims in the structure's order, and joins neighbouring dims that every access crosses as one.
//
// Entry: dims in row-major order of the node that the nest was made for; reduced[i] has the dims that statement i, a
// Reduce, combines. Exit: nest.structure is set and the nest is well formed. Throws Refusal where no structure can
// produce the reductions in the order that eager mode has.
#pragma once
#include <vector>

#include "compiler/lower/kernel.h"

namespace fuselet::schedule {

void arrange_nest(kernel::Nest& nest, const std::vector<uint32_t>& reduced);

}  // namespace fuselet::schedule
