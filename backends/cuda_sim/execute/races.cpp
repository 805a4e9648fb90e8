#include "backends/cuda_sim/execute/races.h"

#include <algorithm>

namespace fuselet::cuda::sim {

namespace {

inline bool conflicts(const RaceSlot& earlier, const RaceSlot& now, uint32_t oldest) {
  if (earlier.epoch < oldest || (earlier.bytes & now.bytes) == 0) return false;
  if (earlier.atomic && now.atomic) return false;
  if (earlier.epoch < g_block.first_of_block) return true;  // another block
  if (earlier.epoch != now.epoch || earlier.thread == now.thread) return false;
  if (earlier.thread / kWarpSize != now.thread / kWarpSize) return true;
  return clocks_of(*g_block.current)[earlier.thread % kWarpSize] < earlier.clock;
}

inline bool same_access(const RaceSlot& a, const RaceSlot& b) { return a.epoch == b.epoch && a.thread == b.thread; }

// Until the next race is found: reports are made at once.
const Race* keep(const RaceSlot& earlier, bool is_write) {
  static Race race;
  race = {earlier, is_write};
  return &race;
}

}  // namespace

void join_clocks(int warp, unsigned mask) {
  uint16_t joined[kWarpSize] = {};
  Thread* lanes = g_block.threads + warp * kWarpSize;
  for (int lane = 0; lane < kWarpSize; ++lane)
    if (mask >> lane & 1)
      for (int k = 0; k < kWarpSize; ++k) joined[k] = std::max(joined[k], clocks_of(lanes[lane])[k]);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!(mask >> lane & 1)) continue;
    std::copy(joined, joined + kWarpSize, lanes[lane].clocks);
    if (lanes[lane].clocks[lane] != UINT16_MAX) ++lanes[lane].clocks[lane];
  }
}

const Race* record_write(RaceCell& cell, const RaceSlot& now, uint32_t oldest) {
  const RaceSlot* found = nullptr;
  if (conflicts(cell.write, now, oldest)) found = &cell.write;
  for (const RaceSlot& read : cell.reads)
    if (found == nullptr && conflicts(read, now, oldest)) found = &read;
  const Race* race = found ? keep(*found, found == &cell.write) : nullptr;
  cell.write = now;
  return race;
}

const Race* record_read(RaceCell& cell, const RaceSlot& now, uint32_t oldest) {
  RaceSlot& first = cell.reads[0];
  RaceSlot& last = cell.reads[1];
  if (same_access(first, now)) {
    uint8_t bytes = first.bytes | now.bytes;
    first = now;
    first.bytes = bytes;
  } else if (first.epoch < g_block.first_of_block) {
    // Readers of earlier blocks of this launch still matter to a later write: the latest of them is kept.
    if (first.epoch >= oldest) last = first;
    first = now;
  } else if (first.epoch != now.epoch) {
    first = now;
  } else {
    last = now;
  }
  return conflicts(cell.write, now, oldest) ? keep(cell.write, true) : nullptr;
}

}  // namespace fuselet::cuda::sim
