// One piece of device memory that somebody took: a block of cuMemAlloc, or a part of one that an allocator announced.
//
// Operations run later than they are submitted, so who owns a byte is a question about a time: each allocation lives
// for a span of sequence numbers, which count submissions, announcements and retirements alike.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda_sim/order/hazards.h"

namespace fuselet::cuda::sim {

inline constexpr uint64_t kStillAlive = UINT64_MAX;

struct Allocation {
  uint64_t start = 0, end = 0;  // offsets in the address space
  uint64_t born = 0, died = kStillAlive;
  uint64_t managed_since = kStillAlive;  // a block of cuMemAlloc: parts are announced, and only they may be used
  Allocation* block = nullptr;           // of cuMemAlloc that this is a part of; null for such a block itself
  bool is_fresh = true;                  // nothing has touched it: its memory holds what was there before
  bool born_in_capture = false;
  size_t granules = 0;                    // that it owns in the table
  std::vector<Allocation*> predecessors;  // owners of its granules until it was born

  // Of the run with this number: the hull of the bytes read and written ([0] and [1]).
  uint64_t run[2] = {0, 0};
  uint64_t low[2] = {0, 0}, high[2] = {0, 0};
  UseHistory history;  // of a block of cuMemAlloc: the uses of it and its parts

  bool is_part() const { return block != nullptr; }
  bool was_alive(uint64_t when) const { return born <= when && when < died; }
  size_t bytes() const { return end - start; }
};

// "the block of 400 bytes at 0x7f… (announced)", for reports.
std::string describe(const Allocation& allocation);

}  // namespace fuselet::cuda::sim
