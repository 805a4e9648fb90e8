// The CPU backend's block allocator: host memory, 64-byte aligned, cached between uses.
//
// Small blocks (to 4 KiB) come from free lists of each thread; larger ones from one locked cache, in size classes an
// eighth of a power of two apart (at most 12.5 % unused), so that a large result reuses pages that are already mapped
// instead of faulting in new ones. Blocks may be freed by another thread than the one that took them, also during
// thread exit. A fork child may allocate and free.
// Under AddressSanitizer every block is a block of its own, so that overruns and uses after free are seen.
#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <utility>

namespace fuselet::cpu {

inline constexpr size_t kBlockAlignment = 64;  // bytes: a cache line, and the widest vector register

class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// The block's contents are unspecified. allocate(0) is nullptr. Throws OutOfMemory, after giving up the cache.
[[nodiscard]] void* allocate(size_t bytes);

// bytes: as given to allocate. deallocate(nullptr, 0) does nothing.
void deallocate(void* block, size_t bytes) noexcept;

// In bytes of whole blocks, the size class that was taken. Small blocks of other threads count once 64 KiB of them
// have come or gone; the calling thread's count at once.
struct MemoryStats {
  size_t allocated = 0;       // taken and not given back
  size_t peak_allocated = 0;  // largest `allocated` since the start or the last reset_peak_memory()
  size_t cached = 0;          // larger blocks given back and kept for reuse
  size_t cache_limit = 0;     // beyond it the blocks that were given back first are returned to the system
};
MemoryStats memory_stats();
void reset_peak_memory();

// Returns the larger cached blocks to the system. Free small blocks stay.
void empty_cache();

// The default is an eighth of physical memory: several results of a training step fit, and what other processes see
// as used stays bounded by that much more than what is in use.
void set_cache_limit(size_t bytes);

}  // namespace fuselet::cpu
