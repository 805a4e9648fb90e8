// Which formulas of a nest may be rough (prelude/rough.h): those of float32 whose every use ends in a rounding to 16
// bits.
#pragma once
#include <vector>

#include "compiler/lower/kernel.h"

namespace fuselet::cuda::codegen {

// One entry a statement. A function of the statement and what becomes of it up to the roundings alone, so that eager
// and compiled kernels decide alike.
std::vector<bool> may_be_rough(const kernel::Nest& nest);

}  // namespace fuselet::cuda::codegen
