// A kernel of the kernel IR as one unit of CUDA C++ without includes, and what its launches are given.
//
// `aligned`: rows are read 16 bytes at a time where sizes and strides of a nest allow it; a launch has to check the
// addresses named in EmittedKernel::aligned. Without, nothing is asked of them. The results are the same, bit for bit.
#pragma once
#include "backends/cuda/codegen/launch_recipe.h"
#include "compiler/lower/kernel.h"

namespace fuselet::cuda::codegen {

EmittedKernel emit_kernel(const kernel::Kernel& kernel, bool aligned);
// The same for every variant.
int64_t scratch_bytes(const kernel::Kernel& kernel);

}  // namespace fuselet::cuda::codegen
