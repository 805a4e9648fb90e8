#include "backends/cuda/cuda_backend.h"

#include "backends/cuda/memory/device_memory.h"
#include "core/allocator.h"

namespace fuselet::cuda {

void register_cuda_backend() { register_allocator(DeviceType::CUDA, device_allocator()); }

}  // namespace fuselet::cuda
