// Host memory that the device reads and writes by itself (page-locked), kept between uses.
//
// A block given back is used again only when the copies recorded on it have passed. Blocks come in classes an eighth of
// a power of two apart; pinning costs the driver milliseconds, so none goes back to it before empty().
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backends/cuda/driver/driver_api.h"
#include "backends/cuda/memory/deferred_reuse.h"

namespace fuselet::cuda {

class PinnedMemory {
 public:
  // enter(device) makes a device's context current.
  PinnedMemory(const DriverApi& api, std::function<void(int)> enter) : api_(api), enter_(std::move(enter)) {}
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;

  // At least `bytes` > 0, aligned to 64 bytes; usable from every device. Error when the system gives none.
  void* allocate(size_t bytes);
  void deallocate(void* block) noexcept;
  // A copy of `stream`, of `device`, reads or writes `address`, anywhere in a block. False if it is in no block.
  bool record_use(const void* address, int device, StreamHandle stream);
  bool contains(const void* address) const;
  // Gives blocks that nobody uses back to the driver.
  void empty();

  size_t allocated_bytes() const;  // of blocks that are taken or still in use
  size_t cached_bytes() const;

 private:
  struct Use {
    int device;
    StreamHandle stream;
    friend bool operator==(const Use&, const Use&) = default;
  };
  struct Block {
    size_t bytes;
    std::vector<Use> uses = {};
    int waits = 0;  // devices with copies that have not passed
  };
  using Blocks = std::map<const char*, Block>;  // by address
  Blocks::iterator find(const void* address);
  void reuse(const std::vector<void*>& blocks);
  void take_ready();
  void release_unused();

  const DriverApi& api_;
  std::function<void(int)> enter_;
  mutable std::mutex mutex_;
  Blocks blocks_;
  std::unordered_map<size_t, std::vector<void*>> unused_;  // by size
  std::map<int, DeferredReuse> deferred_;                  // by device
  size_t allocated_ = 0, cached_ = 0;
};

// The process's own; never destroyed.
PinnedMemory& pinned_memory();
// False, without starting anything, where no memory has been pinned.
bool is_pinned_address(const void* address);

}  // namespace fuselet::cuda
