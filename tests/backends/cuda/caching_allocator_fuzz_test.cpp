// Random programs of tensors on several streams: whatever they do, no byte is in two blocks, none is handed to a stream
// while another still uses it, neighbours merge, and every sum is exact.
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

#include "backends/cuda/memory/caching_allocator.h"
#include "tests/backends/cuda/fake_driver.h"

using namespace fuselet::cuda;
using fuselet::testing::FakeDriver;

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr int kStreams = 4;

struct Live {
  size_t bytes;
  StreamHandle home;
  std::vector<StreamHandle> streams;  // that were given work on it
};

// Compares what the allocator says of itself with what follows from its blocks alone, and with the driver.
void check_sums(const CachingAllocator& memory, const FakeDriver& driver, const std::map<DevicePtr, Live>& live) {
  const MemoryStats stats = memory.stats();
  int64_t reserved = 0, allocated = 0, active = 0, requested = 0, split = 0, blocks = 0, num_active = 0, num_split = 0;
  const std::vector<SegmentInfo> segments = memory.snapshot();
  for (const SegmentInfo& segment : segments) {
    reserved += static_cast<int64_t>(segment.bytes);
    DevicePtr at = segment.address;
    bool free_before = false;
    for (const BlockInfo& b : segment.blocks) {
      REQUIRE(b.address == at);
      at += b.bytes;
      const auto size = static_cast<int64_t>(b.bytes);
      const bool free = b.state == BlockInfo::State::Free;
      REQUIRE_FALSE((free && free_before));
      free_before = free;
      if (!free) active += size, ++num_active;
      if (free && segment.blocks.size() > 1) split += size, ++num_split;
      if (b.state != BlockInfo::State::Allocated) continue;
      ++blocks;
      allocated += size;
      requested += static_cast<int64_t>(b.requested);
      const Live& l = live.at(b.address);
      REQUIRE(l.bytes == b.requested);
      REQUIRE(l.home == segment.stream);
    }
    REQUIRE(at == segment.address + segment.bytes);
  }
  REQUIRE(blocks == static_cast<int64_t>(live.size()));
  REQUIRE(stats.allocation.all.current == blocks);
  REQUIRE(stats.segment.all.current == static_cast<int64_t>(segments.size()));
  REQUIRE(driver.live_memories() == segments.size());
  REQUIRE(stats.reserved_bytes.all.current == reserved);
  REQUIRE(driver.reserved() == static_cast<size_t>(reserved));
  REQUIRE(stats.allocated_bytes.all.current == allocated);
  REQUIRE(stats.active_bytes.all.current == active);
  REQUIRE(stats.active.all.current == num_active);
  REQUIRE(stats.requested_bytes.all.current == requested);
  REQUIRE(stats.inactive_split_bytes.all.current == split);
  REQUIRE(stats.inactive_split.all.current == num_split);
  REQUIRE(stats.allocated_bytes.all.allocated - stats.allocated_bytes.all.freed == allocated);
  REQUIRE(stats.allocated_bytes.small.current + stats.allocated_bytes.large.current == allocated);
}

class RandomProgram {
 public:
  RandomProgram(uint64_t seed, size_t capacity, AllocatorOptions options)
      : random_(seed), driver_(capacity), memory_(driver_.api(), nullptr, "cuda:0", options) {}

  void run(int operations) {
    for (int i = 0; i < operations; ++i) {
      step();
      if (i % 2000 == 0) check_sums(memory_, driver_, live_);
    }
    check_sums(memory_, driver_, live_);
    while (!live_.empty()) drop(live_.begin());
    driver_.finish_all();
    memory_.empty_cache();
    check_sums(memory_, driver_, live_);
    REQUIRE(driver_.reserved() == 0);
  }
  int64_t errors() const { return memory_.stats().num_ooms; }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  StreamHandle any_stream() { return driver_.stream(static_cast<int>(below(kStreams))); }
  // As in training: mostly small tensors, some activations, few huge ones.
  size_t any_size() {
    const size_t kind = below(100);
    if (kind < 60) return 1 + below(64 << 10);
    if (kind < 85) return 1 + below(2 * kMiB);
    if (kind < 98) return 1 + below(24 * kMiB);
    return 1 + below(300 * kMiB);
  }
  std::map<DevicePtr, Live>::iterator any_live() {
    auto it = live_.lower_bound(last_ + below(64 * kMiB));
    if (it == live_.end()) it = live_.begin();
    last_ = it->first;
    return it;
  }

  void step() {
    const size_t kind = below(100);
    if (live_.empty() || kind < 34) return take();
    if (kind < 68) return drop(any_live());
    if (kind < 80) return use(*any_live());
    if (kind < 99) return finish();
    if (below(20) == 0) memory_.empty_cache();
  }

  // As much as is given, on average, so that queues stay long but bounded.
  void finish() {
    const StreamHandle stream = any_stream();
    for (size_t n = below(6); n > 0; --n) driver_.finish_one(stream);
  }

  void take() {
    const size_t bytes = any_size();
    const StreamHandle stream = any_stream();
    DevicePtr block;
    try {
      block = memory_.allocate(bytes, stream);
    } catch (const OutOfMemoryError& e) {
      REQUIRE(e.state().requested == bytes);
      return;
    }
    REQUIRE(block % 512 == 0);
    auto next = live_.lower_bound(block);
    if (next != live_.end()) REQUIRE(block + bytes <= next->first);
    if (next != live_.begin()) {
      --next;
      REQUIRE(next->first + next->second.bytes <= block);
    }
    REQUIRE_FALSE(driver_.is_used_elsewhere(block, bytes, stream));
    live_[block] = {bytes, stream, {}};
    driver_.give_work(stream, block, bytes);
  }

  void use(std::pair<const DevicePtr, Live>& entry) {
    const StreamHandle stream = any_stream();
    driver_.give_work(stream, entry.first, entry.second.bytes);
    memory_.record_stream(entry.first, stream);
  }

  void drop(std::map<DevicePtr, Live>::iterator it) {
    memory_.deallocate(it->first);
    live_.erase(it);
  }

  std::mt19937_64 random_;
  FakeDriver driver_;
  CachingAllocator memory_;
  std::map<DevicePtr, Live> live_;
  DevicePtr last_ = 0;
};

}  // namespace

TEST_CASE("allocator: a million random operations over four streams") {
  for (const char* conf : {"", "max_split_size_mb:64,garbage_collection_threshold:0.6", "roundup_power2_divisions:4"}) {
    for (size_t capacity : {size_t{1} << 32, size_t{1} << 36}) {
      CAPTURE(conf);
      RandomProgram program(capacity + std::string_view(conf).size(), capacity, parse_allocator_options(conf));
      program.run(167'000);
      if (capacity == size_t{1} << 36) CHECK(program.errors() == 0);
    }
  }
}

// A trace of variable-length batches: sequences of 64 to 512 tokens, forward then backward, 24 layers.
TEST_CASE("allocator: batches of changing length leave little memory idle") {
  FakeDriver driver(size_t{80} << 30);
  CachingAllocator memory(driver.api(), nullptr, "cuda:0");
  std::mt19937_64 random(1);
  const StreamHandle stream = driver.stream(0);
  for (int batch = 0; batch < 200; ++batch) {
    const size_t length = std::uniform_int_distribution<size_t>(64, 512)(random);
    std::vector<DevicePtr> kept;
    for (int layer = 0; layer < 24; ++layer) {
      for (size_t width : {3072, 1024, 4096, 1024}) kept.push_back(memory.allocate(8 * length * width * 2, stream));
      memory.deallocate(memory.allocate(8 * 16 * length * length * 2, stream));  // scores of attention
    }
    while (!kept.empty()) {
      memory.deallocate(kept.back());
      kept.pop_back();
    }
  }
  const MemoryStats stats = memory.stats();
  const double ratio =
      static_cast<double>(stats.reserved_bytes.all.peak) / static_cast<double>(stats.allocated_bytes.all.peak);
  INFO("reserved / held at most: ", ratio);
  // Without reuse across lengths it would be above 10.
  CHECK(ratio < 1.6);
}

TEST_CASE("allocator: memory that runs out anywhere is an error that changes nothing") {
  // What a program holds after each of its steps, whichever call of the driver fails.
  auto run = [](int failing) {
    FakeDriver driver(4000 * kMiB);
    CachingAllocator memory(driver.api(), nullptr, "cuda:0");
    driver.fail_memory_call(failing);
    std::map<DevicePtr, Live> live;
    int errors = 0;
    auto take = [&](size_t bytes, int stream) {
      const int64_t before = memory.stats().allocated_bytes.all.current;
      try {
        DevicePtr block = memory.allocate(bytes, driver.stream(stream));
        live[block] = {bytes, driver.stream(stream), {}};
        return block;
      } catch (const OutOfMemoryError&) {
        ++errors;
        CHECK(memory.stats().allocated_bytes.all.current == before);
        check_sums(memory, driver, live);
        // Tried again, it works.
        DevicePtr block = memory.allocate(bytes, driver.stream(stream));
        live[block] = {bytes, driver.stream(stream), {}};
        return block;
      }
    };
    auto drop = [&](DevicePtr block) {
      live.erase(block);
      memory.deallocate(block);
    };
    for (size_t bytes : {size_t{100}, 3 * kMiB, 30 * kMiB, 700 * kMiB}) {
      DevicePtr a = take(bytes, 0), b = take(bytes, 1);
      driver.give_work(driver.stream(2), a, bytes);
      memory.record_stream(a, driver.stream(2));
      drop(a);  // takes an event; without one it waits for the stream
      DevicePtr c = take(bytes, 0);
      CHECK_FALSE(driver.is_used_elsewhere(c, bytes, driver.stream(0)));
      drop(b);
      check_sums(memory, driver, live);
    }
    while (!live.empty()) drop(live.begin()->first);
    driver.finish_all();
    memory.empty_cache();
    CHECK(memory.stats().allocated_bytes.all.current == 0);
    CHECK(driver.reserved() == 0);
    return std::pair(driver.memory_calls(), errors);
  };
  const int calls = run(-1).first;
  CHECK(calls >= 8);
  for (int failing = 0; failing < calls; ++failing) {
    CAPTURE(failing);
    run(failing);
  }
}
