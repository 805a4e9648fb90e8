// The compiler's view of CUDA devices: kernels as generated CUDA C++, compiled by NVRTC when it is there.
#pragma once

namespace fuselet::cuda {

void register_cuda_target();

}  // namespace fuselet::cuda
