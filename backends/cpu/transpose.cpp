#include "backends/cpu/transpose.h"

#include <cstring>

#include "backends/cpu/parallel.h"

namespace fuselet::cpu {
namespace {

// Elements of a cache line make the side of a tile.
template <class E>
inline constexpr int64_t kSide = 64 / static_cast<int64_t>(sizeof(E));

// Elements below which the plain strided copy does as well.
constexpr int64_t kLeastElements = 1024;
constexpr int64_t kGrain = 32768;

// to[r * to_step + c] = from[c * from_step + r] for r < rows, c < cols.
template <class E>
void turn(E* to, int64_t to_step, const E* from, int64_t from_step, int64_t rows, int64_t cols) {
  constexpr int64_t side = kSide<E>;
  E tile[side][side];
  for (int64_t c0 = 0; c0 < cols; c0 += side) {
    const int64_t width = std::min(side, cols - c0);
    for (int64_t r0 = 0; r0 < rows; r0 += side) {
      const int64_t height = std::min(side, rows - r0);
      for (int64_t c = 0; c < width; ++c)
        std::memcpy(tile[c], from + (c0 + c) * from_step + r0, static_cast<size_t>(height) * sizeof(E));
      for (int64_t r = 0; r < height; ++r) {
        for (int64_t c = 0; c < width; ++c) to[(r0 + r) * to_step + c0 + c] = tile[c][r];
      }
    }
  }
}

template <class E>
bool run(const Space& space, E* to, const E* from) {
  const size_t last = space.sizes.size() - 1;
  const Index &out = space.strides[0], &in = space.strides[1];
  size_t along = last;
  for (size_t d = 0; d < last; ++d) {
    if (in[d] == 1) along = d;
  }
  const int64_t rows = space.sizes[along], cols = space.sizes[last];
  if (along == last || out[last] != 1 || in[last] <= 1 || rows < 4 || cols < 4 || space.numel() < kLeastElements)
    return false;

  Space rest{DimsView{}};
  rest.operands = 2;
  for (size_t d = 0; d < last; ++d) {
    if (d == along) continue;
    rest.sizes.push_back(space.sizes[d]);
    for (int o : {0, 1}) rest.strides[o].push_back(space.strides[o][d]);
  }
  // Stripes of whole tiles across all columns.
  const int64_t height = kSide<E> * std::max<int64_t>(kGrain / (kSide<E> * cols), 1);
  const int64_t stripes = (rows + height - 1) / height;
  parallel_for(rest.numel() * stripes, std::max<int64_t>(kGrain / (height * cols), 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Index at = rest.unravel(i / stripes);
      const int64_t first = i % stripes * height;
      turn(to + rest.offset(0, at) + first * out[along], out[along], from + rest.offset(1, at) + first, in[last],
           std::min(height, rows - first), cols);
    }
  });
  return true;
}

}  // namespace

bool copy_transposed(const Space& space, std::byte* to, const std::byte* from, size_t size) {
  if (space.sizes.size() < 2) return false;
  switch (size) {
    case 1:
      return run(space, reinterpret_cast<uint8_t*>(to), reinterpret_cast<const uint8_t*>(from));
    case 2:
      return run(space, reinterpret_cast<uint16_t*>(to), reinterpret_cast<const uint16_t*>(from));
    case 4:
      return run(space, reinterpret_cast<uint32_t*>(to), reinterpret_cast<const uint32_t*>(from));
    default:
      return run(space, reinterpret_cast<uint64_t*>(to), reinterpret_cast<const uint64_t*>(from));
  }
}

}  // namespace fuselet::cpu
