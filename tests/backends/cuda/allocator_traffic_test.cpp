// The caching allocator over the device's own driver, real or simulated, under random traffic on four streams: blocks
// do not overlap, what a stream wrote is there until the block is given back, and on the simulated device no two uses
// of a byte are unordered (a hazard there is a sticky error). The sums that the allocator keeps are compared on the
// driver of caching_allocator_fuzz_test.cpp.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <random>

#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/memory/device_memory.h"
#include "backends/cuda/streams/event.h"

using namespace fuselet::cuda;

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kStreams = 4;
constexpr size_t kMarked = 16;  // bytes at the start of each block that are written and read

struct Live {
  size_t bytes, home;
  unsigned char mark;
};

class Traffic {
 public:
  explicit Traffic(uint64_t seed) : random_(seed), memory_(driver(), context_of(0), "cuda:0") {
    make_current(0);
    for (size_t s = 0; s < kStreams; ++s) scratch_[s] = memory_.allocate(kMarked, streams_[s].handle());
  }

  void run(int64_t operations) {
    for (int64_t i = 0; i < operations; ++i) step();
    while (!live_.empty()) drop(live_.begin());
    for (size_t s = 0; s < kStreams; ++s) {
      streams_[s].synchronize();
      memory_.deallocate(scratch_[s]);
    }
    memory_.empty_cache();
    const MemoryStats stats = memory_.stats();
    CHECK(stats.allocated_bytes.all.current == 0);
    CHECK(stats.reserved_bytes.all.current == 0);
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  size_t any_size() {
    const size_t kind = below(100);
    if (kind < 70) return kMarked + below(64 << 10);
    if (kind < 95) return kMarked + below(kMiB);
    return kMarked + below(8 * kMiB);
  }

  void step() {
    const size_t kind = below(100);
    if (live_.size() < 200 && kind < 40) return take();
    if (live_.empty()) return take();
    if (kind < 78) return drop(any_live());
    if (kind < 94) return use(*any_live());
    if (kind < 99) return streams_[below(kStreams)].synchronize();
    if (below(500) == 0) memory_.empty_cache();
  }
  std::map<DevicePtr, Live>::iterator any_live() {
    auto it = live_.lower_bound(last_ + below(32 * kMiB));
    if (it == live_.end()) it = live_.begin();
    last_ = it->first;
    return it;
  }

  void take() {
    const Live block{any_size(), below(kStreams), static_cast<unsigned char>(below(256))};
    const StreamHandle home = streams_[block.home].handle();
    const DevicePtr at = memory_.allocate(block.bytes, home);
    auto next = live_.lower_bound(at);
    REQUIRE((next == live_.end() || at + block.bytes <= next->first));
    REQUIRE((next == live_.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= at));
    live_[at] = block;
    check(driver().cuMemsetD8Async(at, block.mark, kMarked, home), "cuMemsetD8Async");
  }
  // Another stream reads the block, behind the stream that wrote it.
  void use(std::pair<const DevicePtr, Live>& entry) {
    const size_t by = below(kStreams);
    streams_[by].wait_stream(streams_[entry.second.home]);
    check(driver().cuMemcpyDtoDAsync(scratch_[by], entry.first, kMarked, streams_[by].handle()), "cuMemcpyDtoDAsync");
    memory_.record_stream(entry.first, streams_[by].handle());
  }
  void drop(std::map<DevicePtr, Live>::iterator it) {
    if (below(100) == 0) {
      std::array<unsigned char, kMarked> read{}, want;
      want.fill(it->second.mark);
      const Stream& home = streams_[it->second.home];
      check(driver().cuMemcpyDtoHAsync(read.data(), it->first, kMarked, home.handle()), "cuMemcpyDtoHAsync");
      home.synchronize();
      REQUIRE(read == want);
    }
    memory_.deallocate(it->first);
    live_.erase(it);
  }

  std::mt19937_64 random_;
  std::array<Stream, kStreams> streams_ = {Stream(0), Stream(0), Stream(0), Stream(0)};
  CachingAllocator memory_;
  std::array<DevicePtr, kStreams> scratch_{};
  std::map<DevicePtr, Live> live_;
  DevicePtr last_ = 0;
};

bool has_device() {
  if (is_available()) return true;
  MESSAGE("skipped: ", std::string(why_not_available()));
  return false;
}

}  // namespace

TEST_CASE("gpu: the allocator under a million random operations over four streams") {
  if (!has_device()) return;
  const char* wanted = std::getenv("FUSELET_TEST_OPERATIONS");
  empty_cache();
  Traffic(11).run(wanted ? std::atoll(wanted) : 1'000'000);
}
