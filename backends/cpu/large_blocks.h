// Cache of blocks larger than the small ones, by size class, with a bound on what is kept.
//
// Classes are an eighth of a power of two apart, so a block is at most 12.5 % larger than asked for, and its class
// follows from the size alone. Free blocks are found by class, last freed first (its pages are the warmest), and
// leave in the order they were freed when the cache passes its limit. Not synchronised: the owner holds a lock.
#pragma once

#include <cstddef>

namespace fuselet::cpu {

// The block that holds `bytes`, for bytes > kMaxSmallBlock: a multiple of 64, of whole pages from 1 MiB on.
size_t large_block_bytes(size_t bytes) noexcept;

class LargeBlockCache {
 public:
  // A cached block of exactly this class size, or nullptr.
  void* take(size_t block_bytes) noexcept;
  // Keeps the block, then returns the oldest to the system while more than `limit` bytes are cached.
  void put(void* block, size_t block_bytes, size_t limit) noexcept;
  void shrink_to(size_t limit) noexcept;
  size_t cached_bytes() const noexcept { return cached_bytes_; }

 private:
  // Lies in the free block itself.
  struct FreeBlock {
    FreeBlock *newer, *older;                    // among all
    FreeBlock *newer_in_class, *older_in_class;  // among its class
    size_t bytes;
  };
  static constexpr size_t kClasses = 64 * 8;

  void unlink(FreeBlock* block) noexcept;

  FreeBlock* newest_ = nullptr;
  FreeBlock* oldest_ = nullptr;
  FreeBlock* newest_in_class_[kClasses] = {};
  size_t cached_bytes_ = 0;
};

// From and to the system; nullptr when there is none. Blocks from 1 MiB on are mappings of their own.
void* map_large_block(size_t block_bytes) noexcept;
void unmap_large_block(void* block, size_t block_bytes) noexcept;

}  // namespace fuselet::cpu
