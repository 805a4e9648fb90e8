// Pinned host memory: kept between uses, and never reused under a copy that still runs.
#include "backends/cuda/memory/pinned_memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/error.h"
#include "tests/backends/cuda/fake_driver.h"

using namespace fuselet::cuda;
using fuselet::testing::FakeDriver;

namespace {

struct Host : FakeDriver {
  Host() : FakeDriver(1 << 20) {}
  PinnedMemory memory{api(), [](int) {}};
  // A copy of the stream that uses the block until the test finishes it.
  void copy(void* block, StreamHandle s) {
    REQUIRE(memory.record_use(block, 0, s));
    give_work(s, reinterpret_cast<DevicePtr>(block), 1);
  }
  bool is_in_use(void* block) { return is_used_elsewhere(reinterpret_cast<DevicePtr>(block), 1, nullptr); }
};

}  // namespace

TEST_CASE("pinned memory: a block given back is taken again") {
  Host h;
  void* a = h.memory.allocate(10000);
  CHECK(h.memory.allocated_bytes() == 12288);
  CHECK(h.memory.contains(static_cast<char*>(a) + 9999));
  h.memory.deallocate(a);
  CHECK(h.memory.allocated_bytes() == 0);
  CHECK(h.memory.cached_bytes() == 12288);
  CHECK(h.memory.allocate(9000) == a);
  CHECK(h.live_host_memories() == 1);
}

TEST_CASE("pinned memory: a block waits for every copy that uses it") {
  Host h;
  void* a = h.memory.allocate(4096);
  h.copy(a, h.stream(0));
  h.copy(static_cast<char*>(a) + 100, h.stream(1));
  h.memory.deallocate(a);
  CHECK(h.memory.allocated_bytes() == 4096);
  h.finish_one(h.stream(0));
  void* b = h.memory.allocate(4096);
  CHECK(b != a);
  h.finish_all();
  CHECK(h.memory.allocate(4096) == a);
}

TEST_CASE("pinned memory: what is no block of it is told apart") {
  Host h;
  int x = 0;
  CHECK_FALSE(h.memory.contains(&x));
  CHECK_FALSE(h.memory.record_use(&x, 0, h.stream(0)));
  h.memory.deallocate(&x);
  CHECK(h.memory.allocated_bytes() == 0);
}

TEST_CASE("pinned memory: out of memory gives the cache back first") {
  Host h;
  h.memory.deallocate(h.memory.allocate(4096));
  h.fail_memory_call(0);
  void* a = h.memory.allocate(8192);
  CHECK(h.memory.cached_bytes() == 0);
  CHECK(h.live_host_memories() == 1);
  h.memory.deallocate(a);
  CHECK_THROWS_AS(h.memory.allocate(~size_t{0}), fuselet::Error);
  h.memory.empty();
  CHECK(h.live_host_memories() == 0);
}

TEST_CASE("pinned memory: random use over four streams") {
  Host h;
  std::mt19937_64 random(3);
  auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  std::map<char*, size_t> live;
  auto any_live = [&] { return std::next(live.begin(), static_cast<long>(below(live.size()))); };
  for (int i = 0; i < 100'000; ++i) {
    const size_t kind = below(10);
    if (live.empty() || (kind < 3 && live.size() < 50)) {
      const size_t bytes = 1 + below(size_t{1} << (8 + below(14)));
      auto* block = static_cast<char*>(h.memory.allocate(bytes));
      REQUIRE_FALSE(h.is_in_use(block));
      auto next = live.lower_bound(block);
      REQUIRE((next == live.end() || block + bytes <= next->first));
      REQUIRE((next == live.begin() || std::prev(next)->first + std::prev(next)->second <= block));
      live[block] = bytes;
    } else if (kind < 6) {
      auto it = any_live();
      h.memory.deallocate(it->first);
      live.erase(it);
    } else if (kind < 8) {
      h.copy(any_live()->first, h.stream(static_cast<int>(below(4))));
    } else {
      const StreamHandle s = h.stream(static_cast<int>(below(4)));
      for (size_t n = below(4); n > 0; --n) h.finish_one(s);
    }
  }
  while (!live.empty()) {
    h.memory.deallocate(live.begin()->first);
    live.erase(live.begin());
  }
  h.finish_all();
  h.memory.empty();
  CHECK(h.memory.allocated_bytes() == 0);
  CHECK(h.memory.cached_bytes() == 0);
  CHECK(h.live_host_memories() == 0);
}
