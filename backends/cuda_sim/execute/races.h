// Whether two accesses of one launch are ordered.
//
// Barriers order all threads of a block (the epoch), __syncwarp the lanes that it names (their clocks); blocks are not
// ordered among each other. Shuffles and votes order nothing in memory, as documented. Two accesses of which one writes
// are a race unless they are ordered or both atomic.
#pragma once
#include "backends/cuda_sim/execute/block.h"

namespace fuselet::cuda::sim {

// This lane's clocks, those of the present epoch.
inline uint16_t* clocks_of(Thread& thread) {
  if (thread.clock_epoch != g_block.epoch) {
    thread.clock_epoch = g_block.epoch;
    for (uint16_t& clock : thread.clocks) clock = 0;
    thread.clocks[thread.lane()] = 1;
  }
  return thread.clocks;
}

// The lanes of `mask` in the warp meet at __syncwarp.
void join_clocks(int warp, unsigned mask);

struct Race {
  RaceSlot earlier;
  bool earlier_is_write;
};

// Null, or the earlier access that this one races with. Slots before the epoch `oldest` are of no concern: of earlier
// launches or, in shared memory, of earlier blocks.
const Race* record_write(RaceCell& cell, const RaceSlot& now, uint32_t oldest);
const Race* record_read(RaceCell& cell, const RaceSlot& now, uint32_t oldest);

}  // namespace fuselet::cuda::sim
