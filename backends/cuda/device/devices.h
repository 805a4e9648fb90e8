// The machine's CUDA devices: their properties, their contexts, and which one the thread works on.
//
// A device's primary context is retained on its first use and kept. The current device of a thread lies in its
// DispatchState; device arguments left out mean that one.
#pragma once
#include <string>

#include "backends/cuda/driver/driver_api.h"
#include "core/dispatch_state.h"

namespace fuselet::cuda {

struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  size_t total_memory = 0;   // bytes, as are all memories here
  int multiprocessors = 0;
  int warp_size = 0;
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;
  int registers_per_block = 0;
  size_t shared_memory_per_block = 0;
  size_t shared_memory_per_block_optin = 0;  // the most that a kernel may ask for
  size_t shared_memory_per_multiprocessor = 0;
  size_t l2_cache = 0;
  int clock_khz = 0;
};

// 0 where CUDA is not available. At most kMaxCudaDevices are used.
int device_count() noexcept;
// The thread's current device, 0 at first.
inline int current_device() noexcept { return dispatch_state().cuda_device; }
// Error if there is no such device.
void set_device(int device);
// Error: the number, and how many devices there are.
void check_device(int device);

const DeviceProperties& device_properties(int device);
DeviceNumber device_number(int device);
ContextHandle context_of(int device);
// Makes the device's context the one that this thread's driver calls mean. A few tens of nanoseconds, so it is done
// before every use: other libraries of the process may have set another.
void make_current(int device);
// Waits for all work of the device.
void synchronize(int device = current_device());

class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : saved_(current_device()) { set_device(device); }
  ~DeviceGuard() { dispatch_state().cuda_device = static_cast<int8_t>(saved_); }
  DeviceGuard(const DeviceGuard&) = delete;

 private:
  int saved_;
};

}  // namespace fuselet::cuda
