// A block of memory for the duration of a kernel, from the CPU allocator.
#pragma once
#include <cstddef>
#include <utility>

#include "backends/cpu/memory.h"

namespace fuselet::cpu {

class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(size_t bytes) : data_(allocate(bytes)), bytes_(bytes) {}
  Scratch(Scratch&& o) noexcept : data_(std::exchange(o.data_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
  Scratch& operator=(Scratch&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  ~Scratch() { deallocate(data_, bytes_); }

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace fuselet::cpu
