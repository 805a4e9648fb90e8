#include "backends/cpu/memory.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "backends/cpu/large_blocks.h"
#include "backends/cpu/small_blocks.h"

namespace fuselet::cpu {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kBypassCaches = true;
#else
constexpr bool kBypassCaches = false;
#endif

size_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : size_t{8} << 30;
}

struct Allocator {
  std::mutex mutex;
  LargeBlockCache cache;
  size_t cache_limit = physical_memory() / 8;
  int64_t allocated = 0;
  int64_t peak = 0;

  void count(int64_t delta) {
    allocated += delta;
    peak = std::max(peak, allocated);
  }
};

// Never destroyed: blocks may be freed while static objects die. Held across fork, so that a child finds it whole.
Allocator& allocator() {
  static Allocator* const instance = [] {
    pthread_atfork([] { allocator().mutex.lock(); }, [] { allocator().mutex.unlock(); },
                   [] { allocator().mutex.unlock(); });
    return new Allocator;
  }();
  return *instance;
}

std::string in_units(size_t bytes) {
  char text[64];
  if (bytes < (size_t{1} << 20)) {
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
  } else {
    std::snprintf(text, sizeof text, "%zu bytes (%.1f MiB)", bytes, static_cast<double>(bytes) / (1 << 20));
  }
  return text;
}

[[noreturn]] void throw_out_of_memory(size_t bytes) {
  const MemoryStats stats = memory_stats();
  throw OutOfMemory("out of memory on the cpu: cannot allocate " + in_units(bytes) + "; " + in_units(stats.allocated) +
                    " are in use, at most " + in_units(stats.peak_allocated) + " were; the cache has been given back");
}

// One block of its own, of exactly `bytes`, so that the sanitizer's red zone follows directly.
void* allocate_exactly(size_t bytes) {
  void* block = nullptr;
  if (posix_memalign(&block, kBlockAlignment, bytes) != 0) return nullptr;
  return block;
}

void* allocate_large(size_t bytes) {
  const size_t block_bytes = large_block_bytes(bytes);
  if (block_bytes > static_cast<size_t>(PTRDIFF_MAX)) return nullptr;
  {
    const std::lock_guard lock(allocator().mutex);
    if (void* block = allocator().cache.take(block_bytes)) {
      allocator().count(static_cast<int64_t>(block_bytes));
      return block;
    }
  }
  void* block = map_large_block(block_bytes);
  if (!block) {
    empty_cache();
    block = map_large_block(block_bytes);
  }
  if (block) {
    const std::lock_guard lock(allocator().mutex);
    allocator().count(static_cast<int64_t>(block_bytes));
  }
  return block;
}

}  // namespace

void* allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* block = nullptr;
  if constexpr (kBypassCaches) {
    block = allocate_exactly(bytes);
    if (block) report_small_bytes(static_cast<int64_t>(bytes));
  } else {
    block = bytes <= kMaxSmallBlock ? allocate_small(bytes) : allocate_large(bytes);
  }
  if (!block) [[unlikely]]
    throw_out_of_memory(bytes);
  return block;
}

void deallocate(void* block, size_t bytes) noexcept {
  if (!block) return;
  if constexpr (kBypassCaches) {
    report_small_bytes(-static_cast<int64_t>(bytes));
    return std::free(block);
  }
  if (bytes <= kMaxSmallBlock) return deallocate_small(block, bytes);
  const size_t block_bytes = large_block_bytes(bytes);
  const std::lock_guard lock(allocator().mutex);
  allocator().count(-static_cast<int64_t>(block_bytes));
  allocator().cache.put(block, block_bytes, allocator().cache_limit);
}

void report_small_bytes(int64_t delta) noexcept {
  const std::lock_guard lock(allocator().mutex);
  allocator().count(delta);
}

MemoryStats memory_stats() {
  report_small_bytes(take_small_bytes_delta());
  const std::lock_guard lock(allocator().mutex);
  const Allocator& a = allocator();
  return {static_cast<size_t>(std::max<int64_t>(a.allocated, 0)), static_cast<size_t>(std::max<int64_t>(a.peak, 0)),
          a.cache.cached_bytes(), a.cache_limit};
}

void reset_peak_memory() {
  report_small_bytes(take_small_bytes_delta());
  const std::lock_guard lock(allocator().mutex);
  allocator().peak = allocator().allocated;
}

void empty_cache() {
  const std::lock_guard lock(allocator().mutex);
  allocator().cache.shrink_to(0);
}

void set_cache_limit(size_t bytes) {
  const std::lock_guard lock(allocator().mutex);
  allocator().cache_limit = bytes;
  allocator().cache.shrink_to(bytes);
}

}  // namespace fuselet::cpu
