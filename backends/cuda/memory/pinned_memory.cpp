#include "backends/cuda/memory/pinned_memory.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "backends/cuda/device/devices.h"
#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/memory/memory_stats.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

constexpr size_t kPage = 4096;     // bytes; the driver pins whole pages
constexpr unsigned kPortable = 1;  // CU_MEMHOSTALLOC_PORTABLE: pinned for every context
std::atomic<PinnedMemory*> g_pinned = nullptr;

size_t class_of(size_t bytes) {
  const size_t step = std::max(std::bit_floor(bytes) / 8, kPage);
  return (bytes + step - 1) / step * step;
}

}  // namespace

PinnedMemory::~PinnedMemory() {
  for (auto& [device, deferred] : deferred_) {
    enter_(device);
    deferred.wait_for_all();
  }
  for (auto& [address, block] : blocks_) api_.cuMemFreeHost(const_cast<char*>(address));
}

PinnedMemory::Blocks::iterator PinnedMemory::find(const void* address) {
  auto it = blocks_.upper_bound(static_cast<const char*>(address));
  if (it == blocks_.begin()) return blocks_.end();
  --it;
  return static_cast<const char*>(address) < it->first + it->second.bytes ? it : blocks_.end();
}

void PinnedMemory::reuse(const std::vector<void*>& blocks) {
  for (void* address : blocks) {
    Block& block = blocks_.at(static_cast<const char*>(address));
    if (--block.waits > 0) continue;
    allocated_ -= block.bytes;
    cached_ += block.bytes;
    unused_[block.bytes].push_back(address);
  }
}

void PinnedMemory::take_ready() {
  for (auto& [device, deferred] : deferred_) {
    if (deferred.size() == 0) continue;
    enter_(device);
    reuse(deferred.take_ready());
  }
}

void PinnedMemory::release_unused() {
  for (auto& [bytes, list] : unused_) {
    for (void* address : list) {
      api_.cuMemFreeHost(address);
      blocks_.erase(static_cast<const char*>(address));
      cached_ -= bytes;
    }
    list.clear();
  }
}

void* PinnedMemory::allocate(size_t bytes) {
  FUSELET_CHECK(bytes < size_t{1} << 60, "pinned memory: ", bytes, " bytes are past any memory");
  std::lock_guard lock(mutex_);
  take_ready();
  const size_t size = class_of(bytes);
  std::vector<void*>& list = unused_[size];
  if (!list.empty()) {
    void* address = list.back();
    list.pop_back();
    cached_ -= size;
    allocated_ += size;
    return address;
  }
  enter_(current_device());
  void* address = nullptr;
  Result r = api_.cuMemHostAlloc(&address, size, kPortable);
  if (r == kErrorOutOfMemory) {
    release_unused();
    r = api_.cuMemHostAlloc(&address, size, kPortable);
  }
  FUSELET_CHECK(r == kSuccess, "pinned memory: the system gives no ", readable_bytes(static_cast<int64_t>(size)), " (",
                describe(api_, r), ")");
  blocks_[static_cast<const char*>(address)] = {size};
  allocated_ += size;
  return address;
}

void PinnedMemory::deallocate(void* address) noexcept {
  std::lock_guard lock(mutex_);
  auto it = blocks_.find(static_cast<const char*>(address));
  if (it == blocks_.end()) return;
  Block& block = it->second;
  std::vector<Use> uses = std::move(block.uses);
  block.uses.clear();
  // One wait of its own, so that the block is not free before all devices have been asked.
  block.waits = 1;
  while (!uses.empty()) {
    const int device = uses.front().device;
    std::vector<StreamHandle> streams;
    for (const Use& use : uses) {
      if (use.device == device) streams.push_back(use.stream);
    }
    std::erase_if(uses, [device](const Use& use) { return use.device == device; });
    enter_(device);
    if (deferred_.try_emplace(device, api_).first->second.defer(address, streams)) ++block.waits;
  }
  reuse({address});
}

bool PinnedMemory::record_use(const void* address, int device, StreamHandle stream) {
  std::lock_guard lock(mutex_);
  auto it = find(address);
  if (it == blocks_.end()) return false;
  const Use use{device, stream};
  std::vector<Use>& uses = it->second.uses;
  if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
  return true;
}

bool PinnedMemory::contains(const void* address) const {
  std::lock_guard lock(mutex_);
  return const_cast<PinnedMemory*>(this)->find(address) != blocks_.end();
}

void PinnedMemory::empty() {
  std::lock_guard lock(mutex_);
  take_ready();
  release_unused();
}

size_t PinnedMemory::allocated_bytes() const {
  std::lock_guard lock(mutex_);
  return allocated_;
}

size_t PinnedMemory::cached_bytes() const {
  std::lock_guard lock(mutex_);
  return cached_;
}

PinnedMemory& pinned_memory() {
  static auto* memory = new PinnedMemory(driver(), make_current);
  g_pinned = memory;
  return *memory;
}

bool is_pinned_address(const void* address) {
  const PinnedMemory* memory = g_pinned;
  return memory && memory->contains(address);
}

}  // namespace fuselet::cuda
