// Matrix product of the CPU backend: C = A B, or C += A B.
//
// A is (m, k), B (k, n), C (m, n), each a strided view (strides in elements), for `batch` matrices that lie a_bs,
// b_bs, c_bs elements apart. Operands may be transposed, sliced or broadcast (stride 0); strides are not negative.
// On entry: no two elements of C share an address, and C overlaps neither A nor B.
// On exit: every element is, with kGemmDepth = 256,
//     sum over blocks of 256 k's, in order, of the fused multiply-add chain of that block from zero, in order of k,
// (added to C where accumulate is set). So bits depend on the element's row of A and column of B alone: not on
// threads, m, n, batch, layout, or vector width (machines without FMA round the product as well).
// Zeros are not skipped: 0 * inf is NaN. k == 0 writes zeros (nothing with accumulate); an empty C does nothing.
// Throws OutOfMemory when there is no room for packed copies of the operands.
#pragma once

#include <cstdint>

#include "backends/cpu/function_ref.h"

namespace fuselet::cpu {

enum class GemmType : uint8_t { f32, f64 };

struct GemmDesc {
  int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  int64_t a_rs = 0, a_cs = 0;
  const void* b = nullptr;
  int64_t b_rs = 0, b_cs = 0;
  void* c = nullptr;
  int64_t c_rs = 0, c_cs = 0;
  int64_t batch = 1;
  int64_t a_bs = 0, b_bs = 0, c_bs = 0;
  GemmType type = GemmType::f32;
  bool accumulate = false;
};

// Part of C: of matrix `batch`, rows [row, row_end) and columns [column, column_end).
struct GemmPart {
  int64_t batch, row, row_end, column, column_end;
};
// Called once for each part of C, by the thread that has just finished it: what it computes from there reads C from
// cache. Parts cover C and do not overlap.
using GemmPostWork = FunctionRef<void(const GemmPart&)>;

void gemm(const GemmDesc& desc);
void gemm(const GemmDesc& desc, GemmPostWork post_work);

}  // namespace fuselet::cpu
