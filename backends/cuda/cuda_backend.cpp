#include "backends/cuda/cuda_backend.h"

#include "backends/cuda/cuda_target.h"
#include "backends/cuda/eager/run_operator.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/memory/copies.h"
#include "backends/cuda/memory/device_memory.h"
#include "core/allocator.h"
#include "core/copy_across.h"

namespace fuselet::cuda {

void register_cuda_backend() {
  register_allocator(DeviceType::CUDA, device_allocator());
  register_kernels(DeviceType::CUDA, kernel_table());
  register_runner(DeviceType::CUDA, run_operator);
  register_cuda_target();
  register_copy_across(copy_tensor_across);
}

}  // namespace fuselet::cuda
