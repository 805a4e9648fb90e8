// A block of memory that tensors share, with the version counter that all of them share too.
// Each in-place operation bumps the version; a tensor saved for backward remembers it. A deferred storage (inside a
// recording) has no memory until the recording has run.
#pragma once
#include <cstdint>
#include <functional>

#include "core/allocator.h"
#include "core/intrusive_ptr.h"

namespace fuselet {

class Storage final : public RefCounted {
 public:
  // Memory of the device's own allocator.
  Storage(size_t bytes, Device device) : bytes_(bytes), device_(device) {
    data_ = allocator_of(device.type).allocate(bytes, device);
  }
  // Memory of somebody else; `release` runs once, when the last tensor is gone, on whichever thread that is.
  Storage(void* data, size_t bytes, Device device, std::function<void()> release, bool read_only = false)
      : data_(data),
        bytes_(bytes),
        device_(device),
        read_only_(read_only),
        foreign_(true),
        release_(std::move(release)) {}
  // No memory yet.
  struct Deferred {};
  Storage(Deferred, Device device) : device_(device), deferred_(true) {}
  ~Storage() override;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  bool is_deferred() const { return deferred_; }
  bool is_read_only() const { return read_only_; }
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }
  // A deferred storage takes over the memory of `source`, which keeps nothing.
  void take(Storage& source);

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  Device device_;
  std::atomic<uint32_t> version_{0};
  bool deferred_ = false;
  bool read_only_ = false;
  bool foreign_ = false;
  std::function<void()> release_;
};

using StoragePtr = IntrusivePtr<Storage>;

}  // namespace fuselet
