// The window that convolutions and pooling slide over (H, W).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace fuselet::reference {

using Pair = std::array<int64_t, 2>;

// One number stands for both axes.
inline Pair pair_of(const std::vector<int64_t>& numbers) { return {numbers.front(), numbers.back()}; }

// How many windows start inside the padded axis and fit.
inline int64_t window_count(int64_t size, int64_t kernel, int64_t stride, int64_t padding) {
  int64_t count = 0;
  for (int64_t start = 0; start + kernel <= size + 2 * padding; start += stride) ++count;
  return count;
}

}  // namespace fuselet::reference
