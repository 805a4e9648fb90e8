#include "backends/cuda/memory/out_of_memory.h"

#include "backends/cuda/memory/memory_stats.h"

namespace fuselet::cuda {
namespace {

std::string text_of(const std::string& device, const MemoryState& s) {
  auto readable = [](size_t bytes) { return readable_bytes(static_cast<int64_t>(bytes)); };
  std::string text =
      concat(device, " is out of memory: ", readable(s.requested), " were asked for; of ", readable(s.total), ", ",
             readable(s.free), " are free, ", readable(s.allocated), " are held by tensors of this process, and ",
             readable(s.reserved), " are reserved by its allocator");
  const size_t cached = s.reserved - s.allocated;
  if (cached > 0) text += concat("; the largest free block of these has ", readable(s.largest_free_block));
  if (cached >= s.requested) {
    text += "; reserved memory is fragmented: FUSELET_CUDA_ALLOC_CONF=max_split_size_mb:N keeps large blocks whole";
  }
  return text;
}

}  // namespace

OutOfMemoryError::OutOfMemoryError(const std::string& device, const MemoryState& state)
    : Error(text_of(device, state)), state_(state) {}

}  // namespace fuselet::cuda
