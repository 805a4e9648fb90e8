// Packs a strided k x lanes slice into a panel: step p's lanes adjacent, W apart from the next step's.
//
// Serves both operands: a panel of A has W = kPanelRows rows as lanes, a panel of B W = kPanelCols columns.
// src: lane l of step p at src[l * lane_stride + p * k_stride]; 1 <= lanes <= W, missing lanes are written as zeros.
// dst: has room for panel_size<T, W>(k) elements; the vector stores of the transposing path run past k * W.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/cpu/simd.h"

namespace fuselet::cpu {

// Vectors that cover W lanes, and so the room that a panel takes with the last store's overhang.
template <class T, int W>
inline constexpr int kPanelGroups = (W + kLanes<T> - 1) / kLanes<T>;
template <class T, int W>
constexpr int64_t panel_size(int64_t k) {
  return k * W + (kPanelGroups<T, W> * kLanes<T> - W);
}

// One step of the butterfly: pairs of rows `Half` apart swap their off-diagonal blocks of `Half` lanes.
template <class T, int Half>
inline void transpose_step(Vector<T>* rows) {
  constexpr int kCount = kLanes<T>;
  typename VectorOf<T>::Lanes low, high;
#pragma GCC unroll 16
  for (int lane = 0; lane < kCount; ++lane) {
    const bool from_upper = (lane & Half) != 0;
    low[lane] = from_upper ? kCount + lane - Half : lane;
    high[lane] = from_upper ? kCount + lane : lane + Half;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    if (i & Half) continue;
    const Vector<T> upper = rows[i], lower = rows[i + Half];
    rows[i] = __builtin_shuffle(upper, lower, low);
    rows[i + Half] = __builtin_shuffle(upper, lower, high);
  }
}

// rows: a square of kLanes<T> vectors.
template <class T>
inline void transpose_square(Vector<T>* rows) {
  transpose_step<T, 1>(rows);
  if constexpr (kLanes < T >> 2) transpose_step<T, 2>(rows);
  if constexpr (kLanes < T >> 4) transpose_step<T, 4>(rows);
  if constexpr (kLanes < T >> 8) transpose_step<T, 8>(rows);
}

// k_stride == 1: squares of lanes x steps are transposed in registers. Returns the steps done, a multiple of kLanes.
template <class T, int W>
int64_t pack_transposed(T* dst, const T* src, int64_t lane_stride, int lanes, int64_t k) {
  constexpr int kCount = kLanes<T>;
  int64_t p = 0;
  for (; p + kCount <= k; p += kCount) {
    // Last group first: where it overhangs W it spoils the next step's first lanes, which are written after it.
    for (int group = kPanelGroups<T, W> - 1; group >= 0; --group) {
      const int first = group * kCount;
      Vector<T> square[kCount];
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) {
        const int lane = first + i;
        square[i] = lane < lanes ? load(src + lane * lane_stride + p) : Vector<T>{};
      }
      transpose_square<T>(square);
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) store(dst + (p + i) * W + first, square[i]);
    }
  }
  return p;
}

template <class T, int W>
void pack_panel(T* dst, const T* src, int64_t lane_stride, int64_t k_stride, int lanes, int64_t k) {
  if (lane_stride == 1 && lanes == W) {
    for (int64_t p = 0; p < k; ++p) std::memcpy(dst + p * W, src + p * k_stride, W * sizeof(T));
    return;
  }
  int64_t p = 0;
  if (lane_stride == 1) {
    for (; p < k; ++p) {
#pragma GCC unroll 4
      for (int group = 0; group < kPanelGroups<T, W>; ++group) {
        const int rest = std::clamp(lanes - group * kLanes<T>, 0, kLanes<T>);
        store(dst + p * W + group * kLanes<T>, load_first(src + p * k_stride + group * kLanes<T>, rest));
      }
    }
    return;
  }
  if (k_stride == 1) p = pack_transposed<T, W>(dst, src, lane_stride, lanes, k);
  for (; p < k; ++p) {
    const T* from = src + p * k_stride;
    T* to = dst + p * W;
    for (int lane = 0; lane < lanes; ++lane) to[lane] = from[lane * lane_stride];
    for (int lane = lanes; lane < W; ++lane) to[lane] = T(0);
  }
}

}  // namespace fuselet::cpu
