// Where a device's memory comes from. Backends register one allocator a device type; core only calls it.
#pragma once
#include <cstddef>

#include "core/device.h"

namespace fuselet {

class Allocator {
 public:
  virtual ~Allocator() = default;
  // At least `bytes` (0 gives nullptr), aligned to 64 bytes; throws Error when memory is out.
  virtual void* allocate(size_t bytes, Device device) = 0;
  virtual void deallocate(void* data, size_t bytes, Device device) noexcept = 0;
};

void register_allocator(DeviceType type, Allocator* allocator);
// Throws Error where no backend serves the device.
Allocator& allocator_of(DeviceType type);

}  // namespace fuselet
