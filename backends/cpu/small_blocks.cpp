#include "backends/cpu/small_blocks.h"

#include <pthread.h>

#include <cstdlib>
#include <mutex>

#include "backends/cpu/memory.h"

namespace fuselet::cpu {
namespace {

// Classes are multiples of the alignment: 64, 128, ... 4096 bytes.
constexpr size_t kClasses = kMaxSmallBlock / kBlockAlignment;
constexpr size_t class_of(size_t bytes) { return (bytes - 1) / kBlockAlignment; }
constexpr size_t class_bytes(size_t index) { return (index + 1) * kBlockAlignment; }

// A thread keeps up to 64 KiB a class, and moves half of that to or from the shared list at a time.
constexpr size_t kListBytes = 64 * 1024;
constexpr uint32_t list_limit(size_t index) { return static_cast<uint32_t>(kListBytes / class_bytes(index)); }

struct FreeBlock {
  FreeBlock* next;
};

struct FreeList {
  FreeBlock* head;
  uint32_t count;

  void push(void* block) {
    auto* freed = static_cast<FreeBlock*>(block);
    freed->next = head;
    head = freed;
    ++count;
  }
  void* pop() {
    FreeBlock* block = head;
    head = block->next;
    --count;
    return block;
  }
};

struct Shared {
  std::mutex mutex;
  FreeList lists[kClasses] = {};
};

// Never destroyed: blocks may be freed while static objects die. Held across fork, so that a child finds it whole.
Shared& shared() {
  static Shared* const instance = [] {
    pthread_atfork([] { shared().mutex.lock(); }, [] { shared().mutex.unlock(); }, [] { shared().mutex.unlock(); });
    return new Shared;
  }();
  return *instance;
}

// Plain data, so that it stays usable while and after the thread's destructors run.
struct ThreadCache {
  enum State : uint8_t { unused, active, ended };
  FreeList lists[kClasses];
  int64_t live_bytes;
  State state;
};
constinit thread_local ThreadCache cache{};

void move_blocks(FreeList& from, FreeList& to, uint32_t count) {
  for (; count > 0 && from.head; --count) to.push(from.pop());
}

// A thread that has ended keeps nothing, neither blocks nor counts: no destructor comes to hand them over.
// Not under the shared lock: the report takes the owner's.
void report_at_once() {
  report_small_bytes(cache.live_bytes);
  cache.live_bytes = 0;
}

struct ThreadEnd {
  ~ThreadEnd() {
    cache.state = ThreadCache::ended;
    {
      const std::lock_guard lock(shared().mutex);
      for (size_t i = 0; i < kClasses; ++i) move_blocks(cache.lists[i], shared().lists[i], cache.lists[i].count);
    }
    report_at_once();
  }
};

void activate() {
  static thread_local ThreadEnd at_end;
  (void)at_end;
  cache.state = ThreadCache::active;
}

// Fills `list` with up to `wanted` blocks of the class, from the shared list or a new chunk.
void refill(FreeList& list, size_t index, uint32_t wanted) {
  const std::lock_guard lock(shared().mutex);
  FreeList& common = shared().lists[index];
  if (!common.head) {
    const size_t bytes = class_bytes(index);
    auto* chunk = static_cast<char*>(std::aligned_alloc(kBlockAlignment, kListBytes));
    if (!chunk) return;
    for (size_t at = kListBytes / bytes; at-- > 0;) common.push(chunk + at * bytes);
  }
  move_blocks(common, list, wanted);
}

void count_bytes(int64_t delta) {
  cache.live_bytes += delta;
  if (cache.live_bytes >= kReportBytes || cache.live_bytes <= -kReportBytes) [[unlikely]] {
    report_small_bytes(cache.live_bytes);
    cache.live_bytes = 0;
  }
}

void* allocate_slowly(size_t index) {
  if (cache.state == ThreadCache::unused) activate();
  const bool has_ended = cache.state == ThreadCache::ended;
  FreeList& list = cache.lists[index];
  refill(list, index, has_ended ? 1 : list_limit(index) / 2);
  if (!list.head) return nullptr;
  void* block = list.pop();
  count_bytes(static_cast<int64_t>(class_bytes(index)));
  if (has_ended) report_at_once();
  return block;
}

void spill(size_t index, uint32_t keep) {
  FreeList& list = cache.lists[index];
  const std::lock_guard lock(shared().mutex);
  move_blocks(list, shared().lists[index], list.count - keep);
}

}  // namespace

void* allocate_small(size_t bytes) noexcept {
  const size_t index = class_of(bytes);
  FreeList& list = cache.lists[index];
  if (!list.head) [[unlikely]]
    return allocate_slowly(index);
  void* block = list.pop();
  count_bytes(static_cast<int64_t>(class_bytes(index)));
  return block;
}

void deallocate_small(void* block, size_t bytes) noexcept {
  const size_t index = class_of(bytes);
  FreeList& list = cache.lists[index];
  list.push(block);
  count_bytes(-static_cast<int64_t>(class_bytes(index)));
  if (cache.state != ThreadCache::active) [[unlikely]] {
    if (cache.state == ThreadCache::unused) return activate();
    spill(index, 0);
    return report_at_once();
  }
  if (list.count > list_limit(index)) [[unlikely]]
    spill(index, list_limit(index) / 2);
}

int64_t take_small_bytes_delta() noexcept {
  const int64_t delta = cache.live_bytes;
  cache.live_bytes = 0;
  return delta;
}

}  // namespace fuselet::cpu
