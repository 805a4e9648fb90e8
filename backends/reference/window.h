// The window that convolutions and pooling slide over (H, W).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace fuselet::reference {

using Pair = std::array<int64_t, 2>;

// One number stands for both axes.
inline Pair pair_of(const std::vector<int64_t>& numbers) { return {numbers.front(), numbers.back()}; }

// How many windows start inside the padded axis and fit; with `ceil_mode` also one that starts inside and does not end
// there, unless it starts in the padding behind the elements.
inline int64_t window_count(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation = 1,
                            bool ceil_mode = false) {
  const int64_t last = dilation * (kernel - 1), end = size + 2 * padding;
  int64_t count = 0;
  bool cut = false;
  for (int64_t start = 0; !cut; start += stride) {
    if (start + last >= end) {
      cut = true;
      if (!ceil_mode || start >= size + padding) break;
      if (count > 0 && start - stride + last + 1 == end) break;  // the one before ended with the axis
    }
    ++count;
  }
  return count;
}

}  // namespace fuselet::reference
