#include "core/storage.h"

#include <utility>

#include "core/error.h"

namespace fuselet {
namespace {

Allocator* g_allocators[kNumDeviceTypes] = {};

}  // namespace

void register_allocator(DeviceType type, Allocator* allocator) { g_allocators[static_cast<int>(type)] = allocator; }

Allocator& allocator_of(DeviceType type) {
  Allocator* allocator = g_allocators[static_cast<int>(type)];
  FUSELET_CHECK(allocator, "no backend of this build serves the device '", to_string(Device{type}), "'");
  return *allocator;
}

Storage::~Storage() {
  if (foreign_) {
    if (release_) release_();
  } else if (data_) {
    allocator_of(device_.type).deallocate(data_, bytes_, device_);
  }
}

void Storage::take(Storage& source) {
  FUSELET_INTERNAL_CHECK(deferred_ && !data_, "only a deferred storage can take over memory");
  data_ = std::exchange(source.data_, nullptr);
  bytes_ = std::exchange(source.bytes_, 0);
  foreign_ = source.foreign_;
  release_ = std::move(source.release_);
  deferred_ = false;
}

}  // namespace fuselet
