#include "backends/cuda/memory/caching_allocator.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "backends/cuda/driver/result.h"
#include "backends/cuda/memory/block_pool.h"
#include "backends/cuda/memory/deferred_reuse.h"
#include "backends/cuda/memory/size_policy.h"

namespace fuselet::cuda {
struct CachingAllocator::State {
  State(const DriverApi& driver, ContextHandle of_device, std::string device, AllocatorOptions chosen)
      : api(driver), context(of_device), name(std::move(device)), options(chosen) {}

  const DriverApi& api;
  const ContextHandle context;
  const std::string name;
  const AllocatorOptions options;

  mutable std::mutex mutex;
  BlockPool small{true}, large{false};
  std::unordered_map<DevicePtr, Block*> allocated;
  std::unordered_set<Block*> segments;  // the first block of each
  DeferredReuse deferred{api};
  MemoryStats stats;
  uint64_t requests = 0;

  void enter() const { check(api, api.cuCtxSetCurrent(context), "cuCtxSetCurrent"); }

  Block* find_free(BlockPool& pool, StreamHandle stream, size_t bytes, bool any);
  Block* new_segment(BlockPool& pool, StreamHandle stream, size_t bytes);
  Block* find_after_giving_back(BlockPool& pool, StreamHandle stream, size_t bytes);
  void collect_garbage(size_t bytes);
  void hand_out(Block* block, size_t bytes, size_t requested);

  void give_back(Block* block);
  void make_free(Block* block);
  void merge(Block* block, Block* neighbour);
  void reuse_ready(const std::vector<void*>& blocks);
  std::vector<Block*> unused_segments() const;
  void release(Block* segment);
  void release_unused();
  void count_free(const Block& block, int64_t sign);
  MemoryState memory_state(const BlockPool& pool, StreamHandle stream, size_t requested) const;
};

// `any`: whatever may_split says.
Block* CachingAllocator::State::find_free(BlockPool& pool, StreamHandle stream, size_t bytes, bool any) {
  Block* block = pool.smallest(stream, bytes);
  if (!block || any) return block;
  const bool fits = may_split(options, block->bytes, bytes) || serves_whole(options, block->bytes, bytes);
  return fits ? block : nullptr;
}

// nullptr when the driver has no memory.
Block* CachingAllocator::State::new_segment(BlockPool& pool, StreamHandle stream, size_t bytes) {
  const size_t total = segment_bytes(bytes);
  DevicePtr address = 0;
  Result r = api.cuMemAlloc(&address, total);
  if (r == kErrorOutOfMemory) return nullptr;
  check(api, r, "cuMemAlloc");
  auto* block = new Block{address, total, stream, &pool};
  segments.insert(block);
  pool.free.insert(block);
  stats.segment.add(pool.is_small, 1);
  stats.reserved_bytes.add(pool.is_small, static_cast<int64_t>(total));
  ++stats.num_device_alloc;
  return block;
}

// Unused memory goes back to the driver; then what streams still use is waited for; then large blocks are split.
Block* CachingAllocator::State::find_after_giving_back(BlockPool& pool, StreamHandle stream, size_t bytes) {
  ++stats.num_alloc_retries;
  release_unused();
  if (Block* block = new_segment(pool, stream, bytes)) return block;
  if (deferred.size() > 0) {
    ++stats.num_sync_all_streams;
    reuse_ready(deferred.wait_for_all());
    if (Block* block = find_free(pool, stream, bytes, false)) return block;
    release_unused();
    if (Block* block = new_segment(pool, stream, bytes)) return block;
  }
  return find_free(pool, stream, bytes, true);
}

// Those that have been unused for longest first.
std::vector<Block*> CachingAllocator::State::unused_segments() const {
  std::vector<Block*> unused;
  for (Block* b : segments) {
    if (b->is_free() && b->is_whole_segment()) unused.push_back(b);
  }
  std::sort(unused.begin(), unused.end(),
            [](Block* a, Block* b) { return std::pair(a->freed_at, a->address) < std::pair(b->freed_at, b->address); });
  return unused;
}

// Before `bytes` more are reserved.
void CachingAllocator::State::collect_garbage(size_t bytes) {
  if (options.garbage_collection_threshold <= 0) return;
  size_t free = 0, total = 0;
  if (api.cuMemGetInfo(&free, &total) != kSuccess) return;
  const auto limit = static_cast<int64_t>(options.garbage_collection_threshold * static_cast<double>(total));
  auto excess = [&] { return stats.reserved_bytes.all.current + static_cast<int64_t>(bytes) > limit; };
  if (!excess()) return;
  const std::vector<Block*> unused = unused_segments();
  if (!unused.empty()) check(api, api.cuCtxSynchronize(), "cuCtxSynchronize");
  for (size_t i = 0; i < unused.size() && excess(); ++i) release(unused[i]);
}

void CachingAllocator::State::count_free(const Block& block, int64_t sign) {
  if (block.is_whole_segment()) return;
  stats.inactive_split.add(block.pool->is_small, sign);
  stats.inactive_split_bytes.add(block.pool->is_small, sign * static_cast<int64_t>(block.bytes));
}

// Takes a free block out of its pool, and what remains of it behind `bytes` back in.
void CachingAllocator::State::hand_out(Block* block, size_t bytes, size_t requested) {
  BlockPool& pool = *block->pool;
  count_free(*block, -1);
  pool.free.erase(block);
  const bool splits = leaves_block(block->bytes, bytes, pool.is_small) && !serves_whole(options, block->bytes, bytes);
  if (splits) {
    auto* rest = new Block{block->address + bytes, block->bytes - bytes, block->stream, &pool, block, block->after};
    rest->freed_at = block->freed_at;
    if (rest->after) rest->after->before = rest;
    block->after = rest;
    block->bytes = bytes;
    pool.free.insert(rest);
    count_free(*rest, 1);
  }
  block->allocated = true;
  block->requested = requested;
  allocated.emplace(block->address, block);
  const auto size = static_cast<int64_t>(block->bytes);
  stats.allocation.add(pool.is_small, 1);
  stats.active.add(pool.is_small, 1);
  stats.allocated_bytes.add(pool.is_small, size);
  stats.active_bytes.add(pool.is_small, size);
  stats.requested_bytes.add(pool.is_small, static_cast<int64_t>(requested));
  if (api.sim.announce_block) api.sim.announce_block(block->address, requested);
}

void CachingAllocator::State::give_back(Block* block) {
  const bool is_small = block->pool->is_small;
  stats.allocation.add(is_small, -1);
  stats.allocated_bytes.add(is_small, -static_cast<int64_t>(block->bytes));
  stats.requested_bytes.add(is_small, -static_cast<int64_t>(block->requested));
  block->allocated = false;
  block->requested = 0;
  if (!block->other_streams.empty()) {
    api.cuCtxSetCurrent(context);
    block->awaiting = deferred.defer(block, block->other_streams);
    block->other_streams.clear();
    if (block->awaiting) return;
  }
  make_free(block);
}

// No stream but the block's own uses it any more.
void CachingAllocator::State::make_free(Block* block) {
  if (api.sim.retire_block) api.sim.retire_block(block->address);
  const bool is_small = block->pool->is_small;
  stats.active.add(is_small, -1);
  stats.active_bytes.add(is_small, -static_cast<int64_t>(block->bytes));
  block->awaiting = false;
  block->freed_at = requests;
  if (block->before && block->before->is_free()) merge(block, block->before);
  if (block->after && block->after->is_free()) merge(block, block->after);
  block->pool->free.insert(block);
  count_free(*block, 1);
}

// `block` takes over its free neighbour.
void CachingAllocator::State::merge(Block* block, Block* neighbour) {
  count_free(*neighbour, -1);
  block->pool->free.erase(neighbour);
  if (neighbour == block->before) {
    if (segments.erase(neighbour)) segments.insert(block);
    block->address = neighbour->address;
    block->before = neighbour->before;
    if (block->before) block->before->after = block;
  } else {
    block->after = neighbour->after;
    if (block->after) block->after->before = block;
  }
  block->bytes += neighbour->bytes;
  delete neighbour;
}

void CachingAllocator::State::reuse_ready(const std::vector<void*>& blocks) {
  for (void* block : blocks) make_free(static_cast<Block*>(block));
}

void CachingAllocator::State::release(Block* segment) {
  BlockPool& pool = *segment->pool;
  check(api, api.cuMemFree(segment->address), "cuMemFree");
  stats.segment.add(pool.is_small, -1);
  stats.reserved_bytes.add(pool.is_small, -static_cast<int64_t>(segment->bytes));
  ++stats.num_device_free;
  pool.free.erase(segment);
  segments.erase(segment);
  delete segment;
}

void CachingAllocator::State::release_unused() {
  const std::vector<Block*> unused = unused_segments();
  if (unused.empty()) return;
  // Work that was given to the blocks' streams before they were freed may still run.
  check(api, api.cuCtxSynchronize(), "cuCtxSynchronize");
  for (Block* segment : unused) release(segment);
}

MemoryState CachingAllocator::State::memory_state(const BlockPool& pool, StreamHandle stream, size_t requested) const {
  MemoryState s;
  s.requested = requested;
  if (api.cuMemGetInfo(&s.free, &s.total) != kSuccess) s.free = s.total = 0;
  s.allocated = static_cast<size_t>(stats.allocated_bytes.all.current);
  s.reserved = static_cast<size_t>(stats.reserved_bytes.all.current);
  s.largest_free_block = pool.largest(stream);
  return s;
}

CachingAllocator::CachingAllocator(const DriverApi& api, ContextHandle context, std::string name,
                                   AllocatorOptions options)
    : state_(std::make_unique<State>(api, context, std::move(name), options)) {
  if (options.max_split_size > 0) state_->stats.max_split_size = static_cast<int64_t>(options.max_split_size);
}

CachingAllocator::~CachingAllocator() {
  State& s = *state_;
  s.api.cuCtxSetCurrent(s.context);
  s.deferred.wait_for_all();
  s.api.cuCtxSynchronize();
  for (Block* segment : s.segments) {
    s.api.cuMemFree(segment->address);
    for (Block *b = segment, *next; b; b = next) {
      next = b->after;
      delete b;
    }
  }
}

DevicePtr CachingAllocator::allocate(size_t bytes, StreamHandle stream) {
  State& s = *state_;
  std::lock_guard lock(s.mutex);
  ++s.requests;
  if (s.deferred.size() > 0) {
    s.enter();
    s.reuse_ready(s.deferred.take_ready());
  }
  // Past any memory, and rounding could wrap around.
  const bool absurd = bytes > size_t{1} << 60;
  const size_t wanted = absurd ? bytes : block_bytes(s.options, bytes);
  BlockPool& pool = is_small_request(wanted) ? s.small : s.large;
  Block* block = absurd ? nullptr : s.find_free(pool, stream, wanted, false);
  if (!block) {
    s.enter();
    if (!absurd) {
      s.collect_garbage(segment_bytes(wanted));
      block = s.new_segment(pool, stream, wanted);
      if (!block) block = s.find_after_giving_back(pool, stream, wanted);
    }
    if (!block) {
      ++s.stats.num_ooms;
      throw OutOfMemoryError(s.name, s.memory_state(pool, stream, bytes));
    }
  }
  s.hand_out(block, wanted, bytes);
  return block->address;
}

void CachingAllocator::deallocate(DevicePtr address) noexcept {
  State& s = *state_;
  std::lock_guard lock(s.mutex);
  auto it = s.allocated.find(address);
  if (it == s.allocated.end()) return;
  Block* block = it->second;
  s.allocated.erase(it);
  s.give_back(block);
}

void CachingAllocator::record_stream(DevicePtr address, StreamHandle stream) {
  State& s = *state_;
  std::lock_guard lock(s.mutex);
  auto it = s.allocated.find(address);
  FUSELET_CHECK(it != s.allocated.end(), "record_stream: the memory is no block of ", s.name);
  Block& block = *it->second;
  std::vector<StreamHandle>& others = block.other_streams;
  if (stream == block.stream || std::find(others.begin(), others.end(), stream) != others.end()) return;
  others.push_back(stream);
}

void CachingAllocator::empty_cache() {
  State& s = *state_;
  std::lock_guard lock(s.mutex);
  s.enter();
  s.reuse_ready(s.deferred.wait_for_all());
  s.release_unused();
}

MemoryStats CachingAllocator::stats() const {
  std::lock_guard lock(state_->mutex);
  return state_->stats;
}

void CachingAllocator::reset_peaks() {
  std::lock_guard lock(state_->mutex);
  state_->stats.reset_peaks();
}

void CachingAllocator::reset_accumulated() {
  std::lock_guard lock(state_->mutex);
  state_->stats.reset_accumulated();
}

std::vector<SegmentInfo> CachingAllocator::snapshot() const {
  std::lock_guard lock(state_->mutex);
  std::vector<SegmentInfo> out;
  for (const Block* first : state_->segments) {
    SegmentInfo segment{first->address, 0, first->stream, first->pool->is_small, {}};
    for (const Block* b = first; b; b = b->after) {
      segment.bytes += b->bytes;
      segment.blocks.push_back({b->address, b->bytes, b->requested,
                                b->allocated  ? BlockInfo::State::Allocated
                                : b->awaiting ? BlockInfo::State::AwaitingStreams
                                              : BlockInfo::State::Free});
    }
    out.push_back(std::move(segment));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return out;
}

}  // namespace fuselet::cuda
