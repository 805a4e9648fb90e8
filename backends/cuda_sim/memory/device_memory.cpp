#include "backends/cuda_sim/memory/device_memory.h"

#include <algorithm>
#include <map>

#include "backends/cuda_sim/memory/owners.h"
#include "backends/cuda_sim/report/report.h"
#include "backends/cuda_sim/settings.h"

namespace fuselet::cuda::sim {

namespace {

uint64_t sequence = 0;

struct Blocks {
  std::map<uint64_t, Allocation*> live;  // blocks of cuMemAlloc by offset
  uint64_t cursor = kPage;               // the first page stays unused
  size_t used = 0;
};
Blocks& blocks() {
  static auto* instance = new Blocks;
  return *instance;
}

size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Free addresses from the cursor on, then from the start: those freed longest ago come last. A page on each side stays
// unused. 0 if there are none.
uint64_t find_addresses(size_t bytes) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    uint64_t at = attempt == 0 ? blocks().cursor : kPage;
    auto next = blocks().live.lower_bound(at);
    if (next != blocks().live.begin()) at = std::max(at, whole_pages(std::prev(next)->second->end) + kPage);
    while (next != blocks().live.end() && next->first < at + bytes + kPage) {
      at = whole_pages(next->second->end) + kPage;
      ++next;
    }
    if (at + bytes + kPage <= g_space.span) {
      blocks().cursor = at + bytes + kPage;
      return at;
    }
  }
  return 0;
}

Allocation* block_at(uint64_t offset) {
  auto after = blocks().live.upper_bound(offset);
  if (after == blocks().live.begin()) return nullptr;
  Allocation* block = std::prev(after)->second;
  return offset < block->end ? block : nullptr;
}

}  // namespace

uint64_t next_sequence() { return ++sequence; }
uint64_t last_sequence() { return sequence; }

Result allocate_memory(size_t bytes, DevicePtr* memory) {
  if (memory == nullptr || bytes == 0) return kErrorInvalidValue;
  size_t size = whole_pages(bytes);
  if (size < bytes || blocks().used + size > settings().memory) return kErrorOutOfMemory;
  uint64_t at = find_addresses(size);
  if (at == 0) return kErrorOutOfMemory;
  g_space.commit(at, size);
  auto* block = new Allocation;
  block->start = at;
  block->end = at + bytes;
  block->born = next_sequence();
  give_granules(*block);
  blocks().live[at] = block;
  blocks().used += size;
  *memory = g_space.base + at;
  return kSuccess;
}

Result free_memory(DevicePtr memory) {
  uint64_t offset = offset_of(memory);
  auto found = blocks().live.find(offset);
  if (offset >= g_space.span || found == blocks().live.end()) {
    const Allocation* owner = offset < g_space.span ? g_space.owners[offset / kGranule] : nullptr;
    report(format("cuMemFree(0x%llx): %s", memory,
                  owner == nullptr
                      ? "no block of cuMemAlloc begins there"
                      : ((owner->died != kStillAlive ? "freed before: " : "within ") + describe(*owner)).c_str()),
           kSuccess);
    return kErrorInvalidValue;
  }
  Allocation* block = found->second;
  block->died = next_sequence();
  end_parts(*block);
  g_space.release(block->start, whole_pages(block->bytes()));
  blocks().used -= whole_pages(block->bytes());
  blocks().live.erase(found);
  return kSuccess;
}

void memory_info(size_t* free, size_t* total) {
  if (total) *total = settings().memory;
  if (free) *free = settings().memory - std::min(settings().memory, blocks().used);
}

void set_memory_size(size_t bytes) { settings().memory = std::min(bytes, g_space.base ? g_space.span / 2 : bytes); }

bool is_device_range(DevicePtr memory, size_t bytes) {
  uint64_t offset = offset_of(memory);
  if (offset >= g_space.span) return false;
  const Allocation* block = block_at(offset);
  return block != nullptr && offset + bytes <= block->end;
}

void announce_block(DevicePtr memory, size_t bytes, bool during_capture) {
  uint64_t offset = offset_of(memory);
  Allocation* block = offset < g_space.span ? block_at(offset) : nullptr;
  if (block == nullptr || offset + bytes > block->end || offset % kGranule != 0 || bytes == 0) {
    report(
        format(
            "announce_block(0x%llx, %zu): not within a block of cuMemAlloc, empty, or not at a multiple of %zu bytes",
            memory, bytes, kGranule),
        kErrorInvalidValue);
    return;
  }
  auto* part = new Allocation;
  part->start = offset;
  part->end = offset + bytes;
  part->born = next_sequence();
  part->block = block;
  part->born_in_capture = during_capture;
  block->managed_since = std::min(block->managed_since, part->born);
  if (const Allocation* other = living_part(*part))
    report(format("announce_block(0x%llx, %zu) overlaps ", memory, bytes) + describe(*other), kErrorInvalidValue);
  give_granules(*part);
}

void retire_block(DevicePtr memory) {
  uint64_t offset = offset_of(memory);
  Allocation* part = offset < g_space.span ? g_space.owners[offset / kGranule] : nullptr;
  if (part == nullptr || !part->is_part() || part->start != offset || part->died != kStillAlive) {
    report(format("retire_block(0x%llx): %s", memory,
                  part && part->is_part() ? ("is in " + describe(*part)).c_str() : "no announced block begins there"),
           kErrorInvalidValue);
    return;
  }
  part->died = next_sequence();
}

}  // namespace fuselet::cuda::sim
