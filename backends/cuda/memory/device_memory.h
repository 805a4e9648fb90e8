// The memory of this machine's CUDA devices, one caching allocator a device, and what users ask about it.
//
// Questions never start anything: before a device's first allocation, its numbers are 0.
#pragma once
#include <utility>

#include "backends/cuda/memory/caching_allocator.h"
#include "backends/cuda/streams/stream.h"
#include "core/allocator.h"

namespace fuselet::cuda {

// For register_allocator. Blocks are for the thread's current stream of their device; tensors that are still alive
// when static destructors run are left to the end of the process. Never destroyed.
Allocator* device_allocator();

// Made on first use, with the options of FUSELET_CUDA_ALLOC_CONF.
CachingAllocator& caching_allocator(int device);
// nullptr before the first use.
CachingAllocator* caching_allocator_if_used(int device);

// Zeros before the first use; so all the following.
MemoryStats memory_stats(int device = current_device());
void reset_peak_memory_stats(int device = current_device());
void reset_accumulated_memory_stats(int device = current_device());
std::string memory_summary(int device = current_device());
// Gives unused segments of every device back to the driver.
void empty_cache();
// Free and total bytes of the device, as the driver says.
std::pair<size_t, size_t> mem_get_info(int device = current_device());

}  // namespace fuselet::cuda
