// The CUDA backend's part in the library: its allocator and kernels, registered without loading a driver.
#pragma once

namespace fuselet::cuda {

void register_cuda_backend();

}  // namespace fuselet::cuda
