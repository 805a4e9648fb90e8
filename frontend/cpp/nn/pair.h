// A size, stride or padding over images: one number for both directions, or a pair (height, width).
#pragma once
#include <array>
#include <cstdint>

namespace fuselet::nn {

class Pair {
 public:
  Pair(int64_t both) : values_{both, both} {}
  Pair(int64_t height, int64_t width) : values_{height, width} {}
  int64_t height() const { return values_[0]; }
  int64_t width() const { return values_[1]; }
  // 0: the height, 1: the width.
  int64_t operator[](size_t direction) const { return values_[direction]; }

 private:
  std::array<int64_t, 2> values_;
};

}  // namespace fuselet::nn
