#include "backends/cpu/memory.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace fuselet::cpu;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCaches = false;
#else
constexpr bool kCaches = true;
#endif

constexpr size_t kMiB = size_t{1} << 20;

struct LimitRestored {
  size_t before = memory_stats().cache_limit;
  ~LimitRestored() { set_cache_limit(before); }
};

}  // namespace

TEST_CASE("blocks of every size are aligned, distinct and writable to their end") {
  std::vector<std::pair<unsigned char*, size_t>> blocks;
  std::vector<size_t> sizes{3 * kMiB + 5, kMiB - 1, kMiB, kMiB + 1, 100001, 65537};
  for (size_t bytes = 1; bytes <= 5000; bytes += bytes < 300 ? 1 : 61) sizes.push_back(bytes);
  for (size_t bytes : sizes) {
    auto* block = static_cast<unsigned char*>(allocate(bytes));
    REQUIRE(reinterpret_cast<uintptr_t>(block) % kBlockAlignment == 0);
    std::memset(block, static_cast<int>(blocks.size() % 251), bytes);
    blocks.emplace_back(block, bytes);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [block, bytes] = blocks[i];
    CHECK(block[0] == i % 251);
    CHECK(block[bytes - 1] == i % 251);
    deallocate(block, bytes);
  }
}

TEST_CASE("no bytes are no block") {
  CHECK(allocate(0) == nullptr);
  deallocate(nullptr, 0);
}

TEST_CASE("statistics follow what is in use") {
  const LimitRestored restore;
  empty_cache();
  reset_peak_memory();
  const size_t start = memory_stats().allocated;
  CHECK(memory_stats().cached == 0);

  void* large = allocate(8 * kMiB);
  void* small = allocate(100);
  const size_t both = memory_stats().allocated - start;
  CHECK(both >= 8 * kMiB + 100);
  CHECK(both <= 9 * kMiB + 128);
  deallocate(small, 100);
  deallocate(large, 8 * kMiB);
  CHECK(memory_stats().allocated == start);
  CHECK(memory_stats().peak_allocated >= start + 8 * kMiB);
  CHECK(memory_stats().cached == (kCaches ? 8 * kMiB : 0));
  empty_cache();
  CHECK(memory_stats().cached == 0);
  reset_peak_memory();
  CHECK(memory_stats().peak_allocated == start);
}

TEST_CASE("a large block is reused by sizes of its class, wasting at most an eighth" * doctest::skip(!kCaches)) {
  const LimitRestored restore;
  empty_cache();
  void* first = allocate(20 * kMiB);
  deallocate(first, 20 * kMiB);
  void* again = allocate(20 * kMiB - 1000);
  CHECK(again == first);
  deallocate(again, 20 * kMiB - 1000);
  void* other = allocate(17 * kMiB);
  CHECK(other != first);
  deallocate(other, 17 * kMiB);
  empty_cache();

  const size_t start = memory_stats().allocated;
  for (size_t bytes = 4097; bytes < 300 * kMiB; bytes += bytes / 7 + 13) {
    void* block = allocate(bytes);
    const size_t taken = memory_stats().allocated - start;
    CHECK(taken >= bytes);
    CHECK(static_cast<double>(taken) <= 1.125 * static_cast<double>(bytes));
    deallocate(block, bytes);
    empty_cache();
  }
}

TEST_CASE("the cache keeps to its limit, giving up what was freed first" * doctest::skip(!kCaches)) {
  const LimitRestored restore;
  empty_cache();
  set_cache_limit(10 * kMiB);
  void* a = allocate(4 * kMiB);
  void* b = allocate(5 * kMiB);
  void* c = allocate(3 * kMiB);
  void* d = allocate(11 * kMiB);
  deallocate(a, 4 * kMiB);
  deallocate(b, 5 * kMiB);
  CHECK(memory_stats().cached == 9 * kMiB);
  deallocate(c, 3 * kMiB);
  CHECK(memory_stats().cached == 8 * kMiB);  // a is gone
  deallocate(d, 11 * kMiB);                  // larger than the limit
  CHECK(memory_stats().cached == 8 * kMiB);
  CHECK(allocate(5 * kMiB) == b);
  CHECK(allocate(3 * kMiB) == c);
  deallocate(b, 5 * kMiB);
  deallocate(c, 3 * kMiB);
  set_cache_limit(0);
  CHECK(memory_stats().cached == 0);
}

TEST_CASE("memory that is not there is an error that says how much was asked for" * doctest::skip(!kCaches)) {
  for (size_t bytes : {size_t{1} << 60, SIZE_MAX, SIZE_MAX / 2 + 2}) {
    std::string text;
    try {
      deallocate(allocate(bytes), bytes);
    } catch (const std::bad_alloc& error) {
      text = error.what();
    }
    CAPTURE(text);
    CHECK(text.find("out of memory on the cpu: cannot allocate " + std::to_string(bytes) + " bytes") == 0);
  }
}

TEST_CASE("blocks travel between threads, and outlive the thread that made them") {
  const size_t start = memory_stats().allocated;
  std::mutex mutex;
  std::vector<std::pair<unsigned char*, size_t>> pool;
  std::vector<std::thread> threads;
  std::vector<int> damaged(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20000; ++i) {
        const size_t bytes = static_cast<size_t>(1 + (i * 37 + t * 101) % 6000);
        auto* block = static_cast<unsigned char*>(allocate(bytes));
        block[0] = block[bytes - 1] = static_cast<unsigned char>(bytes);
        const std::lock_guard lock(mutex);
        pool.emplace_back(block, bytes);
        if (pool.size() > 500) {
          std::swap(pool[static_cast<size_t>(i) % pool.size()], pool.back());
          const auto [old, size] = pool.back();
          pool.pop_back();
          damaged[static_cast<size_t>(t)] +=
              old[0] != static_cast<unsigned char>(size) || old[size - 1] != static_cast<unsigned char>(size);
          deallocate(old, size);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(damaged == std::vector<int>(4, 0));
  for (const auto& [block, bytes] : pool) deallocate(block, bytes);
  CHECK(memory_stats().allocated == start);  // ended threads have reported
}

TEST_CASE("blocks may be freed while a thread ends") {
  struct Holder {
    std::vector<std::pair<void*, size_t>> blocks;
    ~Holder() {
      for (const auto& [block, bytes] : blocks) deallocate(block, bytes);
      deallocate(allocate(100), 100);
    }
  };
  const size_t start = memory_stats().allocated;
  std::thread([] {
    static thread_local Holder holder;  // made before the thread's cache, so destroyed after it
    holder.blocks.reserve(300);
    for (size_t bytes = 1; bytes <= 6000; bytes += 37) holder.blocks.emplace_back(allocate(bytes), bytes);
  }).join();
  CHECK(memory_stats().allocated == start);
}

TEST_CASE("a fork child allocates and frees") {
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(allocate(128));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (void* block : blocks) deallocate(block, 128);
    deallocate(allocate(4 * kMiB), 4 * kMiB);
    _exit(allocate(64) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  for (void* block : blocks) deallocate(block, 128);
}
