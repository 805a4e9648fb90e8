// The inner kernels of gemm: a tile of C, up to kPanelRows x kPanelCols, summed over k in registers.
//
// C (rows x cols) gets A (rows x k) times B (k x cols), or that is added to it where `add` is set. Each element is one
// fma chain in order of k, from zero; both kernels give the same bits.
// The direct kernel reads A by any strides and B's rows where they are, and writes only the tile's columns. The packed
// one is for whole vectors of columns and an A packed as panels (row i of step p at p * kPanelRows + i).
// Columns of B and of C are adjacent for both.
#pragma once

#include <cstdint>

#include "backends/cpu/simd.h"

namespace fuselet::cpu {

// Two vectors of columns; rows fill the registers left by those two and one broadcast of A: 14 * 2 + 3 = 31 of 32,
// 6 * 2 + 3 = 15 of 16. Without FMA the product takes a register of its own: 4 * 2 + 4.
inline constexpr int kPanelVecs = 2;
inline constexpr int kPanelRows = kVectorBytes == 64 ? 14 : kVectorBytes == 32 ? 6 : 4;
template <class T>
inline constexpr int kPanelCols = kPanelVecs* kLanes<T>;

template <class T>
struct KernelCall {
  int64_t k;
  const T* a;
  int64_t a_rs, a_cs;
  const T* b;
  int64_t b_rs;
  T* c;
  int64_t c_rs;
  bool add;
};

// 1 <= rows <= kPanelRows, 1 <= cols <= kPanelCols<T>. Defined for float and double.
template <class T>
void run_kernel(int rows, int cols, const KernelCall<T>& call);

}  // namespace fuselet::cpu
