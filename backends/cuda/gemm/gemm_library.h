// The library that computes a device's products: cuBLASLt, found at run time, or the simulated device's.
#pragma once
#include "backends/cuda/gemm/gemm.h"

namespace fuselet::cuda {

// Made on the device's first product, and kept. Error where cuBLASLt is missing: where it was looked for, what to
// install.
GemmLibrary& gemm_library(int device);

// On the thread's current stream of the device.
void run_gemm(const GemmDesc& desc, int device);

}  // namespace fuselet::cuda
