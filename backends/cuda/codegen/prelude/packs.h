// V neighbouring elements of a row as one access. Generated units paste it.
//
// `first` is a multiple of V. A row has n elements; what lies beyond is 0 and is not stored. With kAligned, n is a
// multiple of V and addresses are multiples of the pack's bytes, up to 16: the launch has checked that. Else elements
// go one by one, `step` apart.
#pragma once

#include "backends/cuda/codegen/prelude/values.h"

namespace fuselet::device {

inline constexpr int kWidestAccess = 16;  // bytes

template <class T, int V>
struct alignas(sizeof(T) * V < kWidestAccess ? sizeof(T) * V : kWidestAccess) Pack {
  T element[V];
};

template <bool kAligned, class T, int V, class Index>
FUSELET_FN void load_pack(const T* from, Index first, Index n, T (&to)[V]) {
  if constexpr (kAligned && V > 1) {
    Pack<T, V> pack{};
    if (first < n) pack = *(const Pack<T, V>*)(from + first);
#pragma unroll
    for (int v = 0; v < V; ++v) to[v] = pack.element[v];
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
#pragma unroll
    for (int v = 0; v < V; ++v) pack.element[v] = from[v];
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
