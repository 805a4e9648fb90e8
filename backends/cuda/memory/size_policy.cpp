#include "backends/cuda/memory/size_policy.h"

#include <algorithm>
#include <bit>

namespace fuselet::cuda {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kGranule = 512;              // bytes: the driver's own alignment
constexpr size_t kSmallRequest = kMiB;        // up to here requests share segments of
constexpr size_t kSmallSegment = 2 * kMiB;    // the page size of device memory
constexpr size_t kMediumRequest = 10 * kMiB;  // up to here they share segments of
constexpr size_t kMediumSegment = 20 * kMiB;  // so that the calls of the driver stay few
constexpr size_t kSegmentStep = 2 * kMiB;     // whole pages
constexpr size_t kSmallestLargeRemainder = kMiB;
constexpr size_t kFreelySplit = 64 * kMiB;  // three medium segments and a little: ordinary tensors share below it
constexpr size_t kLeastPart = 4;            // of a larger block, a request must be at least this fraction
constexpr size_t kMostIdle = 8;             // of a request, at most this fraction may lie idle behind it

size_t round_up(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

}  // namespace

size_t block_bytes(const AllocatorOptions& options, size_t bytes) {
  const size_t divisions = options.roundup_power2_divisions;
  const size_t step = divisions > 0 ? std::bit_floor(bytes) / divisions : 1;
  return round_up(round_up(bytes, std::max(step, size_t{1})), kGranule);
}

bool is_small_request(size_t bytes) { return bytes <= kSmallRequest; }

size_t segment_bytes(size_t bytes) {
  if (bytes <= kSmallRequest) return kSmallSegment;
  if (bytes < kMediumRequest) return kMediumSegment;
  return round_up(bytes, kSegmentStep);
}

bool may_split(const AllocatorOptions& options, size_t block, size_t bytes) {
  if (options.max_split_size > 0) return block <= options.max_split_size;
  return block <= kFreelySplit || bytes >= block / kLeastPart;
}

bool serves_whole(const AllocatorOptions& options, size_t block, size_t bytes) {
  const size_t idle = block - bytes;
  return !may_split(options, block, bytes) && idle <= kMediumSegment && idle <= bytes / kMostIdle;
}

bool leaves_block(size_t block, size_t bytes, bool is_small) {
  return is_small ? block - bytes >= kGranule : block - bytes > kSmallestLargeRemainder;
}

}  // namespace fuselet::cuda
