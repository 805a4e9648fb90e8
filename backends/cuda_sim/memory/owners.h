// The table from granules of the address space to allocations, and its past.
#pragma once
#include "backends/cuda_sim/memory/allocation.h"

namespace fuselet::cuda::sim {

// Makes it the owner of its granules; the owners before become its predecessors.
void give_granules(Allocation& allocation);
// A live announced part that overlaps it; null if there is none.
const Allocation* living_part(const Allocation& allocation);
// The block is gone and its parts with it.
void end_parts(const Allocation& block);
// The owner at that time: the latest allocation of the place that was born by then. Null if there was none.
Allocation* owner_at(uint64_t offset, uint64_t when);

}  // namespace fuselet::cuda::sim
