#include "backends/cuda/memory/device_memory.h"

#include <atomic>
#include <mutex>

#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "core/device.h"

namespace fuselet::cuda {
namespace {

struct DeviceMemory {
  std::mutex mutex;
  std::atomic<CachingAllocator*> allocator = nullptr;
};
DeviceMemory g_memory[kMaxCudaDevices];

// A number that may be asked about: of this machine if the driver has been loaded, else any.
void check_number(int device) {
  if (is_driver_loaded()) return check_device(device);
  FUSELET_CHECK(device >= 0 && device < kMaxCudaDevices, "there is no device cuda:", device);
}

class DeviceAllocator final : public Allocator {
 public:
  void* allocate(size_t bytes, Device device) override {
    if (bytes == 0) return nullptr;
    return reinterpret_cast<void*>(
        caching_allocator(device.index).allocate(bytes, current_stream_handle(device.index)));
  }
  void deallocate(void* data, size_t, Device device) noexcept override {
    if (!data || is_shutting_down()) return;
    if (CachingAllocator* allocator = caching_allocator_if_used(device.index)) {
      allocator->deallocate(reinterpret_cast<DevicePtr>(data));
    }
  }
};

}  // namespace

Allocator* device_allocator() {
  static auto* allocator = new DeviceAllocator();
  return allocator;
}

CachingAllocator& caching_allocator(int device) {
  check_device(device);
  DeviceMemory& memory = g_memory[device];
  if (CachingAllocator* made = memory.allocator.load(std::memory_order_acquire)) return *made;
  std::lock_guard lock(memory.mutex);
  if (!memory.allocator.load()) {
    memory.allocator.store(new CachingAllocator(driver(), context_of(device),
                                                to_string(Device{DeviceType::CUDA, static_cast<int8_t>(device)}),
                                                allocator_options_of_environment()),
                           std::memory_order_release);
  }
  return *memory.allocator.load();
}

CachingAllocator* caching_allocator_if_used(int device) {
  check_number(device);
  return g_memory[device].allocator.load(std::memory_order_acquire);
}

MemoryStats memory_stats(int device) {
  const CachingAllocator* allocator = caching_allocator_if_used(device);
  return allocator ? allocator->stats() : MemoryStats{};
}

void reset_peak_memory_stats(int device) {
  if (CachingAllocator* allocator = caching_allocator_if_used(device)) allocator->reset_peaks();
}

void reset_accumulated_memory_stats(int device) {
  if (CachingAllocator* allocator = caching_allocator_if_used(device)) allocator->reset_accumulated();
}

std::string memory_summary(int device) {
  return memory_summary(memory_stats(device), to_string(Device{DeviceType::CUDA, static_cast<int8_t>(device)}));
}

void empty_cache() {
  for (DeviceMemory& memory : g_memory) {
    if (CachingAllocator* allocator = memory.allocator.load()) allocator->empty_cache();
  }
}

std::pair<size_t, size_t> mem_get_info(int device) {
  make_current(device);
  size_t free = 0, total = 0;
  check(driver().cuMemGetInfo(&free, &total), "cuMemGetInfo");
  return {free, total};
}

}  // namespace fuselet::cuda
