// FUSELET_CUDA_ALLOC_CONF: options of the caching allocator, as "name:value,name:value".
#pragma once
#include <cstddef>
#include <string_view>

namespace fuselet::cuda {

struct AllocatorOptions {
  // max_split_size_mb: blocks above are never split, and serve only requests that nearly fill them. 0: the allocator's
  // own rule (size_policy.h).
  size_t max_split_size = 0;  // bytes
  // roundup_power2_divisions: sizes are rounded up to one of so many steps between two powers of two, so that nearly
  // equal requests share blocks. 0: to 512 bytes.
  size_t roundup_power2_divisions = 0;
  // garbage_collection_threshold: before more than this part of the device's memory is reserved, cached segments are
  // given back, those first that have been unused for longest. 0: only when memory is out.
  double garbage_collection_threshold = 0;
};

// Error for an unknown name or a bad value, saying what is expected. Empty text: the defaults.
AllocatorOptions parse_allocator_options(std::string_view text);
// The environment's.
AllocatorOptions allocator_options_of_environment();

}  // namespace fuselet::cuda
