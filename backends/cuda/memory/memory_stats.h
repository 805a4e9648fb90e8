// What the caching allocator counts. Names and meanings are those of PyTorch's memory_stats().
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fuselet::cuda {

// A quantity that goes up and down.
struct Counter {
  int64_t current = 0;
  int64_t peak = 0;       // largest `current` since the start or the last reset
  int64_t allocated = 0;  // sum of all increases
  int64_t freed = 0;      // sum of all decreases
  void add(int64_t amount) {
    current += amount;
    (amount > 0 ? allocated : freed) += amount > 0 ? amount : -amount;
    if (current > peak) peak = current;
  }
};

// Of the small pool, of the large one, and of both.
struct PoolCounter {
  Counter all, small, large;
  void add(bool is_small, int64_t amount) {
    all.add(amount);
    (is_small ? small : large).add(amount);
  }
};

struct MemoryStats {
  PoolCounter allocation;            // blocks that tensors hold
  PoolCounter segment;               // pieces of memory taken from the driver
  PoolCounter active;                // blocks that tensors hold, or that streams still use
  PoolCounter inactive_split;        // free blocks that are only a part of their segment
  PoolCounter allocated_bytes;       // of `allocation`, as all the following: whole blocks
  PoolCounter reserved_bytes;        // of `segment`
  PoolCounter active_bytes;          // of `active`
  PoolCounter inactive_split_bytes;  // of `inactive_split`
  PoolCounter requested_bytes;       // of `allocation`, as they were asked for
  int64_t num_alloc_retries = 0;     // memory was out until cached memory was given back
  int64_t num_ooms = 0;              // errors that callers saw
  int64_t num_sync_all_streams = 0;  // waits for all streams that were to give blocks free
  int64_t num_device_alloc = 0;      // calls of cuMemAlloc that succeeded
  int64_t num_device_free = 0;
  int64_t max_split_size = -1;  // the option, in bytes; -1: none

  void reset_peaks();
  // Sums begin at 0 again; what is current stays.
  void reset_accumulated();
  // "allocated_bytes.all.current" and so on.
  std::vector<std::pair<std::string, int64_t>> by_name() const;
};

// A table for people.
std::string memory_summary(const MemoryStats& stats, const std::string& device);
// "1.50 GiB", "20.00 MiB", "512 bytes".
std::string readable_bytes(int64_t bytes);

}  // namespace fuselet::cuda
