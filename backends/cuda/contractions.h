// Matrix products on a CUDA device, as kernels of the operator table.
//
// Views go to the product as they lie where a library takes them; else one operand is copied. Sums are of float32 or
// float64; integers wrap around, and a bool says whether the sum is not 0. 16-bit factors give a 16-bit result, rounded
// once, or the float32 sums.
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

// matmul and matmul_wide
void matmul(const Call& call);

// out = a @ b by matmul's rules, plus what out holds where `accumulate`. out is row-major, of the product's shape and a
// dtype that the factors' may give (see gemm.h), and shares no memory with them.
void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b, bool accumulate = false);

}  // namespace fuselet::cuda
