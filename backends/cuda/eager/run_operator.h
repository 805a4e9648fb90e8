// Eager operators on CUDA: a call becomes a graph of one operator, which the compiler takes to kernels as it takes a
// compiled function, and the executable is kept by what the call looks like (operator, dtypes, sizes, strides, plain
// arguments; numbers are inputs). Kernels are shared between sizes, so that new sizes compile nothing.
#pragma once
#include "core/dispatch.h"

namespace fuselet::cuda {

// The runner of the device type (core/dispatch.h). Operators with a kernel of their own (kernels.h) are left to it.
bool run_operator(Call& call, Device device, const TensorMeta* metas);

// The same for a call inside an executable, whose outputs are there already: for primitives that no loop nest computes
// as they stand, such as sums over several separate dims.
void run_into_outputs(const Call& call);

}  // namespace fuselet::cuda
