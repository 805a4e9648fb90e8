// The device's addresses: a part of this process's, so that kernels and native operations follow device pointers as
// they are. Beside it lie, for each of its bytes, an owner, a bit that says whether it was written, and a race cell.
//
// All are reserved at once and cost memory only where they are touched. The space is several times the device's memory,
// so that freed addresses stay unused for long and a late access is recognised.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cuda_sim/execute/race_cell.h"

namespace fuselet::cuda::sim {

struct Allocation;

// Announced blocks begin at multiples of this; cuMemAlloc's do as well.
inline constexpr size_t kGranule = 256;
inline constexpr size_t kPage = 4096;

struct AddressSpace {
  uintptr_t base = 0;
  size_t span = 0;
  Allocation** owners = nullptr;  // one a granule
  uint64_t* written = nullptr;    // one bit a byte
  RaceCell* cells = nullptr;      // one for 4 bytes

  // False if the process may not reserve so much.
  bool reserve(size_t bytes);
  // Zeroed memory becomes accessible; or is given back, and the cells and bits with it.
  void commit(uint64_t offset, size_t bytes);
  void release(uint64_t offset, size_t bytes);

  char* at(uint64_t offset) const { return reinterpret_cast<char*>(base + offset); }
  void mark_written(uint64_t offset, size_t bytes);
  void mark_unwritten(uint64_t offset, size_t bytes);
  bool is_written(uint64_t offset, size_t bytes) const;
  void copy_marks(uint64_t to, uint64_t from, size_t bytes);
};
extern AddressSpace g_space;

}  // namespace fuselet::cuda::sim
