// The inner kernel of gemm: a Rows x (Vecs * lanes) tile of C from packed panels, held in registers.
//
// a: k x kPanelRows, packed (row i of step p at a[p * kPanelRows + i]).
// b: k rows of Vecs vectors, b_stride elements apart (packed: kPanelCols).
// c: rows c_stride apart, columns adjacent. Stores the sums, or adds them to c where `add` is set.
// Each element is one fma chain in order of p, from zero.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "backends/cpu/simd.h"

namespace fuselet::cpu {

// Two vectors of columns; rows fill the registers left by those two and one broadcast of A: 14 * 2 + 3 = 31 of 32,
// 6 * 2 + 3 = 15 of 16. Without FMA the product takes a register of its own: 4 * 2.
inline constexpr int kPanelVecs = 2;
inline constexpr int kPanelRows = kVectorBytes == 64 ? 14 : kVectorBytes == 32 ? 6 : 4;
template <class T>
inline constexpr int kPanelCols = kPanelVecs* kLanes<T>;

template <class T>
using GemmKernel = void (*)(int64_t k, const T* a, const T* b, int64_t b_stride, T* c, int64_t c_stride, bool add);

template <class T, int Rows, int Vecs>
void gemm_kernel(int64_t k, const T* __restrict a, const T* __restrict b, int64_t b_stride, T* __restrict c,
                 int64_t c_stride, bool add) {
  Vector<T> sum[Rows][Vecs] = {};
  for (int64_t p = 0; p < k; ++p) {
    Vector<T> columns[Vecs];
#pragma GCC unroll 4
    for (int j = 0; j < Vecs; ++j) columns[j] = load(b + j * kLanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const Vector<T> row = broadcast(a[i]);
#pragma GCC unroll 4
      for (int j = 0; j < Vecs; ++j) sum[i][j] = fma(row, columns[j], sum[i][j]);
    }
    a += kPanelRows;
    b += b_stride;
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < Vecs; ++j) {
      T* to = c + i * c_stride + j * kLanes<T>;
      store(to, add ? load(to) + sum[i][j] : sum[i][j]);
    }
  }
}

template <class T, int... I>
constexpr auto make_gemm_kernels(std::integer_sequence<int, I...>) {
  return std::array<GemmKernel<T>, sizeof...(I)>{&gemm_kernel<T, I / kPanelVecs + 1, I % kPanelVecs + 1>...};
}

// The kernel for 1 <= rows <= kPanelRows and 1 <= vecs <= kPanelVecs.
template <class T>
GemmKernel<T> gemm_kernel_for(int rows, int vecs) {
  static constexpr auto kTable = make_gemm_kernels<T>(std::make_integer_sequence<int, kPanelRows * kPanelVecs>{});
  return kTable[static_cast<size_t>((rows - 1) * kPanelVecs + vecs - 1)];
}

}  // namespace fuselet::cpu
