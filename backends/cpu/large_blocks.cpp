#include "backends/cpu/large_blocks.h"

#include <sys/mman.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "backends/cpu/memory.h"

namespace fuselet::cpu {
namespace {

constexpr size_t kMappedBytes = size_t{1} << 20;  // from here on a mapping of its own, given back at once when freed
constexpr size_t kHugePage = size_t{2} << 20;     // x86-64's and the usual arm64's
constexpr int kStepsLog2 = 3;                     // classes in a power of two: 8

// Eighths: the bits below the top four are rounded up.
constexpr int rounding_shift(size_t bytes) { return std::bit_width(bytes - 1) - 1 - kStepsLog2; }

size_t class_of(size_t block_bytes) {
  const int shift = std::bit_width(block_bytes) - 1 - kStepsLog2;
  return static_cast<size_t>(shift) * 8 + (block_bytes >> shift) - 8;
}

}  // namespace

size_t large_block_bytes(size_t bytes) noexcept {
  const size_t step = size_t{1} << rounding_shift(bytes);
  const size_t rounded = (bytes + step - 1) & ~(step - 1);
  return rounded < bytes ? SIZE_MAX : rounded;
}

void LargeBlockCache::unlink(FreeBlock* block) noexcept {
  (block->newer ? block->newer->older : newest_) = block->older;
  (block->older ? block->older->newer : oldest_) = block->newer;
  FreeBlock*& class_head = newest_in_class_[class_of(block->bytes)];
  (block->newer_in_class ? block->newer_in_class->older_in_class : class_head) = block->older_in_class;
  if (block->older_in_class) block->older_in_class->newer_in_class = block->newer_in_class;
  cached_bytes_ -= block->bytes;
}

void* LargeBlockCache::take(size_t block_bytes) noexcept {
  FreeBlock* block = newest_in_class_[class_of(block_bytes)];
  if (block) unlink(block);
  return block;
}

void LargeBlockCache::put(void* block, size_t block_bytes, size_t limit) noexcept {
  if (block_bytes > limit) return unmap_large_block(block, block_bytes);
  FreeBlock*& class_head = newest_in_class_[class_of(block_bytes)];
  auto* freed = new (block) FreeBlock{nullptr, newest_, nullptr, class_head, block_bytes};
  (newest_ ? newest_->newer : oldest_) = freed;
  newest_ = freed;
  if (class_head) class_head->newer_in_class = freed;
  class_head = freed;
  cached_bytes_ += block_bytes;
  shrink_to(limit);
}

void LargeBlockCache::shrink_to(size_t limit) noexcept {
  while (cached_bytes_ > limit) {
    FreeBlock* block = oldest_;
    const size_t bytes = block->bytes;
    unlink(block);
    unmap_large_block(block, bytes);
  }
}

void* map_large_block(size_t block_bytes) noexcept {
  if (block_bytes < kMappedBytes) return std::aligned_alloc(kBlockAlignment, block_bytes);
  void* block = mmap(nullptr, block_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return nullptr;
  // One fault and one TLB entry for 2 MiB; the kernel ignores the advice where it has no huge pages.
  if (block_bytes >= kHugePage) madvise(block, block_bytes, MADV_HUGEPAGE);
  return block;
}

void unmap_large_block(void* block, size_t block_bytes) noexcept {
  if (block_bytes < kMappedBytes) return std::free(block);
  munmap(block, block_bytes);
}

}  // namespace fuselet::cpu
