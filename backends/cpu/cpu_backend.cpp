#include "backends/cpu/cpu_backend.h"

#include "backends/cpu/kernels.h"
#include "backends/cpu/memory.h"
#include "core/allocator.h"
#include "core/error.h"

namespace fuselet::cpu {
namespace {

class CpuAllocator final : public Allocator {
 public:
  void* allocate(size_t bytes, Device) override {
    try {
      return cpu::allocate(bytes);
    } catch (const OutOfMemory& e) {
      throw Error(e.what());
    }
  }
  void deallocate(void* data, size_t bytes, Device) noexcept override { cpu::deallocate(data, bytes); }
};

}  // namespace

void register_cpu_backend() {
  // Never destroyed: static tensors may outlive every other static.
  static CpuAllocator* allocator = new CpuAllocator();
  register_allocator(DeviceType::CPU, allocator);
  register_kernels(DeviceType::CPU, kernel_table());
}

}  // namespace fuselet::cpu
