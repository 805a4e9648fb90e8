// CUDA devices for programs: fuselet::cuda.
//
//   if (cuda::is_available()) {
//     Tensor x = ones({1024}).cuda();
//     cuda::Stream side;
//     side.wait_stream(cuda::current_stream());
//     cuda::StreamGuard on_side(side);
//     ...
//   }
//
// FUSELET_CUDA (auto, off, sim) chooses the device; nothing is loaded before the first use. A tensor's memory belongs
// to the stream that was current when it was made: name other streams that use it by record_stream, or keep it until
// their work is done. Random numbers come from the one generator of the process: the same seed gives the same numbers
// on every device.
#pragma once
#include "backends/cuda/device/devices.h"         // device_count, current_device, set_device, DeviceGuard, synchronize
#include "backends/cuda/driver/library_search.h"  // add_library_folder
#include "backends/cuda/driver/load_driver.h"     // is_available, why_not_available, is_driver_loaded
#include "backends/cuda/driver/result.h"          // check
#include "backends/cuda/memory/copies.h"          // pin_memory, is_pinned, record_stream, copy_non_blocking
#include "backends/cuda/memory/device_memory.h"   // memory_stats, memory_summary, empty_cache, mem_get_info
#include "backends/cuda/memory/out_of_memory.h"   // OutOfMemoryError
#include "backends/cuda/memory/pinned_memory.h"   // pinned_memory
#include "backends/cuda/streams/event.h"          // Event
#include "backends/cuda/streams/stream.h"         // Stream, StreamGuard, current_stream, default_stream

namespace fuselet::cuda {

// Bytes, in whole blocks of at least 512: held by tensors, and taken from the driver; the peaks since the start or the
// last reset_peak_memory_stats(). 0 before a device's first tensor.
inline int64_t memory_allocated(int device = current_device()) {
  return memory_stats(device).allocated_bytes.all.current;
}
inline int64_t max_memory_allocated(int device = current_device()) {
  return memory_stats(device).allocated_bytes.all.peak;
}
inline int64_t memory_reserved(int device = current_device()) {
  return memory_stats(device).reserved_bytes.all.current;
}
inline int64_t max_memory_reserved(int device = current_device()) {
  return memory_stats(device).reserved_bytes.all.peak;
}

}  // namespace fuselet::cuda
