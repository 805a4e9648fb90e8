// Device memory: taking and freeing it, whose a byte is, and whether an operation may touch it.
#pragma once
#include <string>

#include "backends/cuda_sim/memory/address_space.h"
#include "backends/cuda_sim/memory/allocation.h"
#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

// Counts submissions, announcements and retirements.
uint64_t next_sequence();
uint64_t last_sequence();

Result allocate_memory(size_t bytes, DevicePtr* memory);
Result free_memory(DevicePtr memory);
void memory_info(size_t* free, size_t* total);
void set_memory_size(size_t bytes);

void announce_block(DevicePtr memory, size_t bytes, bool during_capture);
void retire_block(DevicePtr memory);

// Forgets allocations that nothing can reach; only while nothing is pending and no graph exists.
void sweep_allocations();

// A run: one execution of an operation, or of a node of a graph. Accesses between begin_run and end_run are its own.
struct Run {
  uint64_t number = 0;          // unique
  uint64_t sequence = 0;        // the time of its submission, at which memory is seen
  uint64_t captured_until = 0;  // a node: when its capture ended; 0 otherwise
  Place place;
  std::shared_ptr<const std::string> what;
};
extern Run g_run;
void begin_run(Place place, uint64_t sequence, uint64_t captured_until, std::shared_ptr<const std::string> what);
// Looks for hazards with earlier runs.
void end_run();

// The allocation that holds [offset, offset + bytes) for this run, entered into its uses. Null, and why not in
// `problem`. Fresh memory is filled with 0xff first, NaN for every floating dtype.
Allocation* claim(uint64_t offset, size_t bytes, bool is_write, std::string& problem);
inline void widen_use(Allocation& a, uint64_t offset, size_t bytes, bool is_write) {
  if (offset < a.low[is_write]) a.low[is_write] = offset;
  if (offset + bytes > a.high[is_write]) a.high[is_write] = offset + bytes;
}

// The same for a range that a copy, memset or native operation touches; reports a problem. Does not mark it written.
bool claim_range(DevicePtr memory, size_t bytes, bool is_write);
// Whether it lies in one block of cuMemAlloc now.
bool is_device_range(DevicePtr memory, size_t bytes);
inline uint64_t offset_of(DevicePtr memory) { return memory - g_space.base; }

}  // namespace fuselet::cuda::sim
