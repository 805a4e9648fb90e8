// What the caching allocator promises, one rule a case, on a driver without memory behind its addresses.
#include "backends/cuda/memory/caching_allocator.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/backends/cuda/fake_driver.h"

using namespace fuselet::cuda;
using fuselet::testing::FakeDriver;

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr int64_t mib(int64_t n) { return n << 20; }

struct Device : FakeDriver {
  explicit Device(size_t capacity, AllocatorOptions options = {})
      : FakeDriver(capacity), memory(api(), nullptr, "cuda:0", options) {}
  CachingAllocator memory;
  StreamHandle s0 = stream(0), s1 = stream(1);
  DevicePtr take(size_t bytes) { return memory.allocate(bytes, s0); }
  int64_t allocated() const { return memory.stats().allocated_bytes.all.current; }
  int64_t reserved_bytes() const { return memory.stats().reserved_bytes.all.current; }
};

}  // namespace

TEST_CASE("allocator: a small request is cut from a segment of 2 MiB, in steps of 512 bytes") {
  Device d(100 * kMiB);
  DevicePtr a = d.take(1), b = d.take(512), c = d.take(513), e = d.take(1);
  CHECK(b == a + 512);
  CHECK(c == b + 512);
  CHECK(e == c + 1024);
  CHECK(d.reserved() == 2 * kMiB);
  CHECK(d.allocated() == 512 * 5);
  CHECK(d.memory.stats().requested_bytes.all.current == 1 + 512 + 513 + 1);
}

TEST_CASE("allocator: segments by size") {
  Device d(1000 * kMiB);
  d.take(kMiB + 1);
  CHECK(d.reserved() == 20 * kMiB);
  d.take(9 * kMiB);  // what remains of it
  CHECK(d.reserved() == 20 * kMiB);
  d.take(10 * kMiB + 1);
  CHECK(d.reserved() == 32 * kMiB);
}

TEST_CASE("allocator: neighbours that are free become one block again") {
  Device d(100 * kMiB);
  std::vector<DevicePtr> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(d.take(512 << 10));
  CHECK(d.reserved() == 2 * kMiB);
  for (int i : {0, 2, 3, 1}) d.memory.deallocate(blocks[static_cast<size_t>(i)]);
  const auto segments = d.memory.snapshot();
  REQUIRE(segments.size() == 1);
  CHECK(segments[0].blocks.size() == 1);
  CHECK(d.take(kMiB) == blocks[0]);
}

TEST_CASE("allocator: the block that fits best is taken") {
  Device d(1000 * kMiB);
  DevicePtr large = d.take(40 * kMiB), medium = d.take(24 * kMiB);
  d.memory.deallocate(large);
  d.memory.deallocate(medium);
  CHECK(d.take(22 * kMiB) == medium);
  CHECK(d.take(30 * kMiB) == large);
  CHECK(d.reserved() == 64 * kMiB);
}

TEST_CASE("allocator: a block is for its own stream alone") {
  Device d(100 * kMiB);
  DevicePtr a = d.take(kMiB);
  d.memory.deallocate(a);
  CHECK(d.memory.allocate(kMiB, d.s1) != a);
  CHECK(d.take(kMiB) == a);
}

TEST_CASE("allocator: what another stream still reads is not handed out") {
  Device d(100 * kMiB);
  DevicePtr a = d.take(4 * kMiB);
  d.give_work(d.s1, a, 4 * kMiB);
  d.memory.record_stream(a, d.s1);
  d.memory.deallocate(a);
  CHECK(d.allocated() == 0);
  CHECK(d.memory.stats().active_bytes.all.current == mib(4));
  DevicePtr junk = d.take(4 * kMiB);
  CHECK(junk != a);
  d.memory.deallocate(junk);
  d.finish_all();
  CHECK(d.take(20 * kMiB) == a);  // merged with what was beside it
  CHECK(d.memory.stats().active_bytes.all.current == mib(20));
}

TEST_CASE("allocator: a huge block is not pinned by a small one") {
  Device d(1000 * kMiB);
  DevicePtr a = d.take(600 * kMiB);
  d.memory.deallocate(a);
  d.take(20 * kMiB);
  CHECK(d.take(600 * kMiB) == a);
  CHECK(d.reserved_bytes() <= mib(640));
  CHECK(d.memory.stats().num_ooms == 0);
  CHECK(d.memory.stats().num_alloc_retries == 0);
}

TEST_CASE("allocator: statistics are exact") {
  Device d(100 * kMiB);
  DevicePtr a = d.take(4 * kMiB);
  DevicePtr gone = d.take(30 * kMiB);
  d.memory.deallocate(gone);
  d.memory.reset_peaks();
  CHECK(d.allocated() == mib(4));
  CHECK(d.memory.stats().allocated_bytes.all.peak == mib(4));
  d.memory.deallocate(d.take(2 * kMiB));
  CHECK(d.memory.stats().allocated_bytes.all.peak == mib(6));
  d.memory.deallocate(a);
  const MemoryStats s = d.memory.stats();
  CHECK(s.allocated_bytes.all.current == 0);
  CHECK(s.allocated_bytes.all.allocated == mib(36));
  CHECK(s.allocated_bytes.all.freed == mib(36));
  CHECK(s.allocation.large.allocated == 3);
  CHECK(s.allocation.small.allocated == 0);
  CHECK(s.inactive_split_bytes.all.current == 0);
}

TEST_CASE("allocator: cached memory goes back before an error, and the error has the numbers") {
  Device d(100 * kMiB);
  DevicePtr a = d.take(60 * kMiB), b = d.take(20 * kMiB);
  d.memory.deallocate(a);
  DevicePtr c = d.take(80 * kMiB);
  CHECK(d.memory.stats().num_alloc_retries == 1);
  CHECK(d.memory.stats().num_ooms == 0);
  d.memory.deallocate(c);
  try {
    d.take(90 * kMiB);
    FAIL("no error");
  } catch (const OutOfMemoryError& e) {
    CHECK(e.state().requested == 90 * kMiB);
    CHECK(e.state().total == 100 * kMiB);
    CHECK(e.state().free == 80 * kMiB);
    CHECK(e.state().allocated == 20 * kMiB);
    CHECK(e.state().reserved == 20 * kMiB);
    CHECK(e.state().largest_free_block == 0);
    CHECK(std::string(e.what()) ==
          "cuda:0 is out of memory: 90.00 MiB were asked for; of 100.00 MiB, 80.00 MiB are free, 20.00 MiB are held by "
          "tensors of this process, and 20.00 MiB are reserved by its allocator");
  }
  CHECK(d.memory.stats().num_ooms == 1);
  CHECK(d.allocated() == mib(20));
  d.memory.deallocate(b);
}

TEST_CASE("allocator: a request past any memory is out of memory, not an overflow") {
  Device d(100 * kMiB);
  CHECK_THROWS_AS(d.take(~size_t{0}), OutOfMemoryError);
  CHECK_THROWS_AS(d.take(size_t{1} << 61), OutOfMemoryError);
  CHECK(d.memory.stats().num_ooms == 2);
  d.take(1);
}

TEST_CASE("allocator: out of memory waits for what streams still use") {
  Device d(100 * kMiB);
  DevicePtr a = d.take(80 * kMiB);
  d.give_work(d.s1, a, 80 * kMiB);
  d.memory.record_stream(a, d.s1);
  d.memory.deallocate(a);
  CHECK(d.memory.allocate(60 * kMiB, d.s1) != 0);
  CHECK(d.memory.stats().num_sync_all_streams == 1);
}

TEST_CASE("allocator: before an error even a huge block is split") {
  Device d(1000 * kMiB);
  DevicePtr a = d.take(900 * kMiB);
  d.memory.deallocate(a);
  DevicePtr b = d.take(300 * kMiB);  // a third of it: split, so it cannot go back to the driver
  CHECK(b == a);
  d.take(80 * kMiB);  // a segment of its own
  CHECK(d.reserved() == 980 * kMiB);
  CHECK(d.take(70 * kMiB) == a + 300 * kMiB);
  CHECK(d.reserved() == 980 * kMiB);
}

TEST_CASE("allocator: empty_cache gives back what no tensor holds a part of") {
  Device d(1000 * kMiB);
  DevicePtr kept = d.take(2 * kMiB), gone = d.take(30 * kMiB);
  d.memory.deallocate(gone);
  d.memory.empty_cache();
  CHECK(d.reserved() == 20 * kMiB);
  CHECK(d.reserved_bytes() == mib(20));
  d.memory.deallocate(kept);
  d.memory.empty_cache();
  CHECK(d.reserved() == 0);
  CHECK(d.memory.stats().num_device_free == 2);
}

TEST_CASE("allocator: max_split_size keeps larger blocks whole") {
  Device d(1000 * kMiB, parse_allocator_options("max_split_size_mb:100"));
  CHECK(d.memory.stats().max_split_size == mib(100));
  DevicePtr a = d.take(200 * kMiB);
  d.memory.deallocate(a);
  DevicePtr b = d.take(150 * kMiB);
  CHECK(b != a);
  DevicePtr c = d.take(190 * kMiB);
  CHECK(c == a);
  CHECK(d.allocated() == mib(350));  // c is handed out whole
  CHECK(d.memory.snapshot()[0].blocks.size() == 1);
}

TEST_CASE("allocator: roundup_power2_divisions makes near sizes equal") {
  Device d(1000 * kMiB, parse_allocator_options("roundup_power2_divisions:4"));
  d.take(1200 << 10);
  CHECK(d.allocated() == 1280 << 10);
  d.take((1 << 20) + (1 << 18));
  CHECK(d.allocated() == 2 * (1280 << 10));
  d.take(1 << 16);
  CHECK(d.allocated() == 2 * (1280 << 10) + (1 << 16));
}

TEST_CASE("allocator: garbage collection keeps reserved memory below its threshold") {
  Device d(1000 * kMiB, parse_allocator_options("garbage_collection_threshold:0.5"));
  DevicePtr oldest = d.take(200 * kMiB), newer = d.take(200 * kMiB);
  d.memory.deallocate(oldest);
  d.memory.deallocate(newer);
  d.take(300 * kMiB);
  CHECK(d.reserved() == 500 * kMiB);
  CHECK(d.memory.snapshot()[0].address == newer);
}

TEST_CASE("allocator: every block is announced to the simulated device and retired once") {
  Device d(100 * kMiB);
  d.simulate();
  DevicePtr a = d.take(100), b = d.take(kMiB * 3);
  CHECK(d.announced() == 2);
  d.memory.record_stream(b, d.s1);
  d.give_work(d.s1, b, 8);
  d.memory.deallocate(b);
  CHECK(d.announced() == 2);  // still read on the other stream
  d.memory.deallocate(a);
  CHECK(d.announced() == 1);
  d.finish_all();
  d.memory.empty_cache();
  CHECK(d.announced() == 0);
}

TEST_CASE("allocator: at its end everything goes back") {
  FakeDriver driver(100 * kMiB);
  {
    CachingAllocator memory(driver.api(), nullptr, "cuda:0");
    DevicePtr a = memory.allocate(4 * kMiB, driver.stream(0));
    memory.record_stream(a, driver.stream(1));
    driver.give_work(driver.stream(1), a, 4);
    memory.deallocate(a);
    memory.allocate(3 * kMiB, driver.stream(0));
  }
  CHECK(driver.live_memories() == 0);
  CHECK(driver.live_events() == 0);
}

TEST_CASE("allocator: record_stream refuses memory that is none of its blocks") {
  Device d(100 * kMiB);
  DevicePtr a = d.take(1024);
  CHECK_THROWS_WITH(d.memory.record_stream(a + 512, d.s1), "record_stream: the memory is no block of cuda:0");
  d.memory.deallocate(a + 512);  // does nothing
  CHECK(d.allocated() == 1024);
}

TEST_CASE("allocator options: what is wrong is named") {
  auto text_of = [](const char* conf) -> std::string {
    try {
      parse_allocator_options(conf);
    } catch (const fuselet::Error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(text_of("") == "");
  CHECK(text_of(" max_split_size_mb : 128 , roundup_power2_divisions:8,") == "");
  CHECK(text_of("max_split_size_mb:20") ==
        "FUSELET_CUDA_ALLOC_CONF: max_split_size_mb:20: expected a whole number of MiB above 20");
  CHECK(text_of("max_split_size_mb:12x") ==
        "FUSELET_CUDA_ALLOC_CONF: max_split_size_mb:12x: expected a whole number of MiB above 20");
  CHECK(text_of("roundup_power2_divisions:3") ==
        "FUSELET_CUDA_ALLOC_CONF: roundup_power2_divisions:3: expected a power of two from 1 to 64");
  CHECK(text_of("garbage_collection_threshold:1.5") ==
        "FUSELET_CUDA_ALLOC_CONF: garbage_collection_threshold:1.5: expected a number between 0 and 1, both excluded");
  CHECK(text_of("backend:native") ==
        "FUSELET_CUDA_ALLOC_CONF: unknown option 'backend': expected max_split_size_mb, roundup_power2_divisions or "
        "garbage_collection_threshold");
  CHECK(text_of("max_split_size_mb") ==
        "FUSELET_CUDA_ALLOC_CONF: 'max_split_size_mb': expected name:value, with commas between");
  CHECK(parse_allocator_options("garbage_collection_threshold:0.8").garbage_collection_threshold == 0.8);
}

TEST_CASE("memory statistics have PyTorch's names") {
  Device d(100 * kMiB);
  d.take(4 * kMiB);
  int64_t found = -1;
  for (const auto& [name, value] : d.memory.stats().by_name()) {
    if (name == "allocated_bytes.large_pool.peak") found = value;
  }
  CHECK(found == mib(4));
  CHECK(memory_summary(d.memory.stats(), "cuda:0").find("Allocated memory           all             4.00 MiB") !=
        std::string::npos);
}
