// For kernels that move elements without looking at them: one body for each size instead of one for each dtype.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fuselet::cpu {

// Calls f with a zero of the unsigned type of `size` bytes: 1, 2, 4 or 8.
template <class F>
auto with_element_size(size_t size, F&& f) {
  switch (size) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

}  // namespace fuselet::cpu
