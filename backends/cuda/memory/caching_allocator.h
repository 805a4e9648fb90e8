// The memory of one device, kept between uses: blocks by stream, small and large pools, splitting and merging.
//
// A request of at most 1 MiB is cut from a segment of 2 MiB; up to 10 MiB from one of 20 MiB; larger ones get a segment
// of their own, in steps of 2 MiB. The smallest free block of the stream that fits is taken, and split where enough
// remains; a block given back merges with its free neighbours. A block belongs to the stream that it was taken for:
// reuse needs no waiting there. Other streams that use it are named by record_stream; it is then free again only when
// events on those have passed. If the driver has no memory, cached segments go back to it and the request is tried
// again; then OutOfMemoryError.
//
// Thread-safe. Never initialises anything: the context is the owner's. Does not handle stream capture: no block may be
// taken or given back while one runs.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/driver/driver_api.h"
#include "backends/cuda/memory/allocator_options.h"
#include "backends/cuda/memory/memory_stats.h"
#include "backends/cuda/memory/out_of_memory.h"

namespace fuselet::cuda {

struct BlockInfo {
  DevicePtr address;
  size_t bytes;
  size_t requested;  // 0 unless allocated
  enum class State { Free, Allocated, AwaitingStreams } state;
};
// A piece of the driver's memory and its blocks, in order of address, without gaps.
struct SegmentInfo {
  DevicePtr address;
  size_t bytes;
  StreamHandle stream;
  bool is_small;
  std::vector<BlockInfo> blocks;
};

class CachingAllocator {
 public:
  // name: of the device, for errors. The api must outlive the allocator, the context the last call.
  CachingAllocator(const DriverApi& api, ContextHandle context, std::string name, AllocatorOptions options = {});
  // Gives everything back, whoever still holds it.
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;

  // At least `bytes` > 0, aligned to 512 bytes, for work of `stream`. On OutOfMemoryError no block has changed hands.
  DevicePtr allocate(size_t bytes, StreamHandle stream);
  void deallocate(DevicePtr block) noexcept;
  // `stream` uses the block too. Error if there is no such block.
  void record_stream(DevicePtr block, StreamHandle stream);

  // Gives unused segments back to the driver.
  void empty_cache();
  MemoryStats stats() const;
  void reset_peaks();
  void reset_accumulated();
  std::vector<SegmentInfo> snapshot() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fuselet::cuda
