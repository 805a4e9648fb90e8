// The last accesses to a few bytes of memory: 4 of device memory, 2 of shared memory.
//
// One write and two reads are kept. Two, for with one "all threads read s[0], then thread 0 overwrites it" escapes:
// the slot may hold the read of thread 0 itself. Where threads write different bytes of one cell only the last writer
// is kept: a race may be missed, none is invented.
#pragma once
#include <cstdint>

namespace fuselet::cuda::sim {

struct RaceSlot {
  uint32_t epoch = 0;   // counts blocks and barriers over all launches; 0: no access
  uint32_t pc = 0;      // offset in the kernel's object
  uint16_t thread = 0;  // linear index in its block
  uint16_t clock = 0;   // the lane's own, counting its __syncwarp
  uint8_t bytes = 0;    // a bit a byte
  uint8_t atomic = 0;
};

struct RaceCell {
  RaceSlot write, reads[2];
};

}  // namespace fuselet::cuda::sim
