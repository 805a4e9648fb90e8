#include "backends/cuda/cuda_backend.h"

#include "backends/cuda/memory/copies.h"
#include "backends/cuda/memory/device_memory.h"
#include "core/allocator.h"
#include "core/copy_across.h"

namespace fuselet::cuda {

void register_cuda_backend() {
  register_allocator(DeviceType::CUDA, device_allocator());
  register_copy_across(copy_tensor_across);
}

}  // namespace fuselet::cuda
