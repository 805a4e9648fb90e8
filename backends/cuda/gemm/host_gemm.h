// A column-major product computed by the host where the operands lie in its memory: what the simulated device runs.
//
// Sums and epilogues are of double precision, `std::` alone, rounded once when stored; so it is no model of a GPU's
// bits, and shares nothing with the CPU backend's product. Single-threaded.
#pragma once
#include "backends/cuda/gemm/gemm.h"

namespace fuselet::cuda {

// On entry: reason_refused(desc) is nullptr, D is not empty, addresses are the host's.
void host_gemm(const GemmDesc& desc);

}  // namespace fuselet::cuda
