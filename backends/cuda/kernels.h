// Operators that have a kernel of their own on CUDA, because no loop nest computes them: products, and what a later
// element depends on an earlier one for. All others are generated (eager/run_operator.h).
#pragma once
#include "core/dispatch.h"

namespace fuselet::cuda {

// By OpId; what it lists for generated operators is for calls inside executables.
const Kernel* kernel_table();
// True iff an eager call goes to the table.
bool has_own_kernel(const Op& op);

}  // namespace fuselet::cuda
