// V neighbouring elements of a row as one access. Generated units paste it.
//
// `first` is a multiple of V. A row has n elements; what lies beyond is 0 and is not stored. With kAligned, n is a
// multiple of V and addresses are multiples of the pack's bytes, up to 16: the launch has checked that. Else elements
// go one by one, `step` apart.
#pragma once

#include "backends/cuda/codegen/prelude/values.h"

namespace fuselet::device {

inline constexpr int kWidestAccess = 16;  // bytes

// As words: a compiler that sees elements of 16 bits moves them one by one wherever the access is conditional.
template <class T, int V>
struct alignas(sizeof(T) * V < kWidestAccess ? sizeof(T) * V : kWidestAccess) Pack {
  static_assert(sizeof(T) * V % sizeof(unsigned) == 0);
  unsigned word[sizeof(T) * V / sizeof(unsigned)];
};

FUSELET_FN void copy_bytes(void* to, const void* from, unsigned long bytes) {
#ifdef FUSELET_SIM
  __builtin_memcpy(to, from, bytes);
#else
  memcpy(to, from, bytes);  // built into NVRTC
#endif
}

// Tells the compiler that the pack at `first` has elements of the row.
template <class Index>
FUSELET_FN void assume_in_row([[maybe_unused]] Index first, [[maybe_unused]] Index n) {
#ifndef FUSELET_SIM
  __builtin_assume(first < n);
#endif
}

template <bool kAligned, class T, int V, class Index>
FUSELET_FN void load_pack(const T* from, Index first, Index n, T (&to)[V]) {
  if constexpr (kAligned && V > 1) {
    Pack<T, V> pack{};
    if (first < n) pack = *(const Pack<T, V>*)(from + first);
    copy_bytes(to, pack.word, sizeof(pack));
  } else {
#pragma unroll
    for (int v = 0; v < V; ++v) to[v] = first + v < n ? from[first + v] : T{};
  }
}
template <class T, int V, class Index>
FUSELET_FN void load_apart(const T* from, Index first, Index n, Index step, T (&to)[V]) {
#pragma unroll
  for (int v = 0; v < V; ++v) to[v] = first + v < n ? from[(first + v) * step] : T{};
}

template <bool kAligned, class T, int V, class Index>
FUSELET_FN void store_pack(T* to, Index first, Index n, const T (&from)[V]) {
  if constexpr (kAligned && V > 1) {
    Pack<T, V> pack;
    copy_bytes(pack.word, from, sizeof(pack));
    if (first < n) *(Pack<T, V>*)(to + first) = pack;
  } else {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (first + v < n) to[first + v] = from[v];
    }
  }
}
template <class T, int V, class Index>
FUSELET_FN void store_apart(T* to, Index first, Index n, Index step, const T (&from)[V]) {
#pragma unroll
  for (int v = 0; v < V; ++v) {
    if (first + v < n) to[(first + v) * step] = from[v];
  }
}

}  // namespace fuselet::device
