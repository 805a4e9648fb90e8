// matmul's rules for tensors of any rank, as products of matrices that GEMM libraries take.
//
// Vectors become a row on the left and a column on the right; batch dimensions are broadcast with stride 0 and merged
// into one where their strides allow; one weight for all matrices makes their rows one matrix. Geometry alone: no
// memory is touched. On entry: sizes as matmul's shape rule wants them, no size is 0, no stride negative.
#pragma once
#include <array>
#include <vector>

#include "backends/cuda/gemm/gemm.h"
#include "core/shape.h"

namespace fuselet::cuda {

struct Geometry {
  DimsView sizes, strides;
};

struct MatmulPlan {
  // Operands that must be made contiguous first; the rest of the plan is then missing.
  bool copy_a = false, copy_b = false;
  // Without addresses, dtypes and epilogue.
  GemmDesc desc;
  // Elements from the start of a, b and the result to those of each product; more than one where batch dimensions do
  // not merge.
  std::vector<std::array<int64_t, 3>> starts;
};

// Past so many launches, contiguous copies of the operands are cheaper.
inline constexpr size_t kMostMatmulLaunches = 4;

// `out` of the product's shape; its strides must be taken by a library as they are (a dense tensor's are).
MatmulPlan plan_matmul(const Geometry& a, const Geometry& b, const Geometry& out);

}  // namespace fuselet::cuda
