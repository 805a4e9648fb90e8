// Square blocks of an operand that lies along another dim than the loops run: memory is read and written in runs of
// neighbours, and the loops take lanes from the block, which the first-level cache holds. Generated units paste it.
#pragma once

namespace fuselet::generated {

inline constexpr long kBlockSide = 64;
// Elements from one run to the next: no power of two, so that lanes fall into different sets of the cache.
inline constexpr long kBlockPitch = kBlockSide + 16;

// `runs` runs of `length` elements, `stride` apart in memory.
template <class T>
inline void read_block(T* block, const T* from, long stride, long runs, long length) {
  for (long r = 0; r < runs; ++r) {
    if (length == kBlockSide)
      __builtin_memcpy(block + r * kBlockPitch, from + r * stride, kBlockSide * sizeof(T));
    else
      __builtin_memcpy(block + r * kBlockPitch, from + r * stride, length * sizeof(T));
  }
}
template <class T>
inline void write_block(const T* block, T* to, long stride, long runs, long length) {
  for (long r = 0; r < runs; ++r) {
    if (length == kBlockSide)
      __builtin_memcpy(to + r * stride, block + r * kBlockPitch, kBlockSide * sizeof(T));
    else
      __builtin_memcpy(to + r * stride, block + r * kBlockPitch, length * sizeof(T));
  }
}

}  // namespace fuselet::generated
