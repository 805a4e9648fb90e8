// The error of a device that has no memory left, with the numbers that say why.
#pragma once
#include <cstddef>
#include <string>

#include "core/error.h"

namespace fuselet::cuda {

// In bytes.
struct MemoryState {
  size_t requested = 0;
  size_t free = 0, total = 0;     // of the device, as the driver says
  size_t allocated = 0;           // in tensors
  size_t reserved = 0;            // taken from the driver by this process's allocator
  size_t largest_free_block = 0;  // of the cached blocks that the stream could have used
};

class OutOfMemoryError : public Error {
 public:
  OutOfMemoryError(const std::string& device, const MemoryState& state);
  const MemoryState& state() const { return state_; }

 private:
  MemoryState state_;
};

}  // namespace fuselet::cuda
