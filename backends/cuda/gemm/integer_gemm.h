// Products of integers, which GEMM libraries do not offer: one thread an element, sums of 64 bits that wrap around, cut
// to the dtype. Correct, not fast.
#pragma once
#include <string>

#include "backends/cuda/gemm/gemm.h"
#include "core/device.h"

namespace fuselet::cuda {

struct IntegerGemmArgs {
  unsigned long long a = 0, b = 0, d = 0;
  int64_t count = 0, m = 0, n = 0, k = 0;
  int64_t a_row = 0, a_col = 0, a_batch = 0, b_row = 0, b_col = 0, b_batch = 0, d_row = 0, d_col = 0, d_batch = 0;
  int64_t accumulate = 0;
};
IntegerGemmArgs integer_gemm_args(const GemmDesc& desc);
// dtype: Int64, Int32, Int8, UInt8 or Bool (whether the sum is not 0).
std::string integer_gemm_text(DType dtype);

// D = A B, plus C where desc.beta is 1 and C is D; strides of any kind, no epilogue; desc.in is desc.out. On the
// thread's current stream of the device.
void run_integer_gemm(const GemmDesc& desc, Device device);

}  // namespace fuselet::cuda
