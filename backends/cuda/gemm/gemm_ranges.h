// The memory that a product touches, for the simulated device's checks.
#pragma once
#include <vector>

#include "backends/cuda/gemm/gemm.h"

namespace fuselet::cuda {

// Exactly what is read and written: dense runs, without the gaps between rows. What is both stands twice.
// On entry: reason_refused(desc) is nullptr and D is not empty.
std::vector<DeviceRange> ranges_of(const GemmDesc& desc);

}  // namespace fuselet::cuda
