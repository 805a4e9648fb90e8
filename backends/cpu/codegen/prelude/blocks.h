// Square blocks of an operand that lies along another dim than the loops run, turned so that its lanes lie side by
// side. Memory is read and written in runs of neighbours, and the block stays in the first-level cache. Generated units
// paste it.
#pragma once

#include "backends/cpu/codegen/prelude/lanes.h"

namespace fuselet::generated {

// Elements; also from one row of a block to the next.
inline constexpr long kBlockSide = 64;

template <int Bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
  using Type = unsigned char;
};
template <>
struct BitsOf<2> {
  using Type = unsigned short;
};
template <>
struct BitsOf<4> {
  using Type = unsigned;
};
template <>
struct BitsOf<8> {
  using Type = unsigned long;
};

#ifndef __clang__
// Rows i and i + Step of K rows exchange the parts whose place has another bit Step than the row.
template <int Step, int K, class V>
FUSELET_FN void exchange(V (&rows)[K]) {
  if constexpr (Step < K) {
    const V n = lane_numbers<V>();
    const V low = (n & Step) != 0 ? n + (K - Step) : n, high = (n & Step) != 0 ? n + K : n + Step;
#pragma GCC unroll 16
    for (int i = 0; i < K; ++i) {
      if (i & Step) continue;
      V a = rows[i], b = rows[i + Step];
      rows[i] = __builtin_shuffle(a, b, low);
      rows[i + Step] = __builtin_shuffle(a, b, high);
    }
    exchange<Step * 2, K>(rows);
  }
}
template <int K, class U>
FUSELET_FN void turn_square(U* to, long to_step, const U* from, long from_step) {
  using V = Lanes<U, K>;
  V rows[K];
#pragma GCC unroll 16
  for (int i = 0; i < K; ++i) __builtin_memcpy(&rows[i], from + i * from_step, sizeof(V));
  exchange<1, K>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < K; ++i) __builtin_memcpy(to + i * to_step, &rows[i], sizeof(V));
}
#endif

// to[c * to_step + r] = from[r * from_step + c], r < rows, c < columns.
template <class T>
inline void turn(T* to_elements, long to_step, const T* from_elements, long from_step, long rows, long columns) {
  using U = typename BitsOf<sizeof(T)>::Type;
  U* to = (U*)to_elements;
  const U* from = (const U*)from_elements;
  constexpr int kFits = formula::kVectorBytes / sizeof(U), K = kFits > 16 ? 16 : kFits < 4 ? 4 : kFits;
  for (long r = 0; r < rows; r += K) {
    for (long c = 0; c < columns; c += K) {
#ifndef __clang__
      if (r + K <= rows && c + K <= columns) {
        turn_square<K>(to + c * to_step + r, to_step, from + r * from_step + c, from_step);
        continue;
      }
#endif
      for (long i = r; i < rows && i < r + K; ++i) {
        for (long k = c; k < columns && k < c + K; ++k) to[k * to_step + i] = from[i * from_step + k];
      }
    }
  }
}

// `runs` runs of `length` neighbours, `stride` apart in memory: run r is column r of the block.
template <class T>
inline void read_block(T* block, const T* from, long stride, long runs, long length) {
  turn(block, kBlockSide, from, stride, runs, length);
}
template <class T>
inline void write_block(const T* block, T* to, long stride, long runs, long length) {
  turn(to, stride, block, kBlockSide, length, runs);
}

}  // namespace fuselet::generated
