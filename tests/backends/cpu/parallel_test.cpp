#include "backends/cpu/parallel.h"

#include <doctest/doctest.h>
#include <omp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace fuselet::cpu;

namespace {

struct ThreadsRestored {
  int before = get_num_threads();
  ~ThreadsRestored() { set_num_threads(before); }
};

std::vector<int> visits(int64_t n, int64_t grain) {
  std::vector<int> count(static_cast<size_t>(n), 0);
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++count[static_cast<size_t>(i)];
  });
  return count;
}

// The child's exit status, or -1 when it has not ended within ten seconds (it is ended then).
int status_of_child(pid_t child) {
  for (int waited = 0; waited < 1000; ++waited) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

}  // namespace

TEST_CASE("parallel_for visits every index once") {
  const ThreadsRestored restore;
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
    for (int64_t n : {0, 1, 2, 3, 63, 64, 65, 1000, 12345}) {
      for (int64_t grain : {0, 1, 7, 64, 100, 100000}) {
        CAPTURE(n);
        CAPTURE(grain);
        CAPTURE(threads);
        CHECK(visits(n, grain) == std::vector<int>(static_cast<size_t>(n), 1));
      }
    }
  }
}

TEST_CASE("parallel_for runs inline up to its grain, in one call") {
  const ThreadsRestored restore;
  set_num_threads(4);
  const auto caller = std::this_thread::get_id();
  int calls = 0;
  parallel_for(1000, 1000, [&](int64_t begin, int64_t end) {
    ++calls;
    CHECK(begin == 0);
    CHECK(end == 1000);
    CHECK(std::this_thread::get_id() == caller);
  });
  CHECK(calls == 1);
  parallel_for(0, 1, [&](int64_t, int64_t) { ++calls; });
  parallel_for(-5, 1, [&](int64_t, int64_t) { ++calls; });
  CHECK(calls == 1);
}

TEST_CASE("parallel_for uses the threads asked for") {
  const ThreadsRestored restore;
  set_num_threads(2);
  CHECK(get_num_threads() == 2);
  std::atomic<int> calls{0}, team{0};
  parallel_for(1000, 1, [&](int64_t, int64_t) {
    ++calls;
    team = omp_get_num_threads();
  });
  CHECK(calls == 2);
  CHECK(team == 2);
  set_num_threads(0);
  CHECK(get_num_threads() == 1);
}

TEST_CASE("a loop inside a loop runs inline") {
  const ThreadsRestored restore;
  set_num_threads(2);
  std::atomic<int> inner{0}, strayed{0};
  parallel_tiles(8, [&](int64_t) {
    const auto here = std::this_thread::get_id();
    parallel_for(100, 1, [&](int64_t begin, int64_t end) {
      inner += static_cast<int>(end - begin);
      if (std::this_thread::get_id() != here) ++strayed;
    });
    parallel_tiles(3, [&](int64_t) {
      if (std::this_thread::get_id() != here) ++strayed;
    });
  });
  CHECK(inner == 800);
  CHECK(strayed == 0);
}

TEST_CASE("parallel_tiles visits every tile once") {
  const ThreadsRestored restore;
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
    for (int64_t count : {-1, 0, 1, 2, 100, 1001}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(std::max<int64_t>(count, 0)));
      parallel_tiles(count, [&](int64_t tile) { ++seen[static_cast<size_t>(tile)]; });
      for (const auto& times : seen) CHECK(times == 1);
    }
  }
}

TEST_CASE("exceptions of workers reach the caller, and the loops work afterwards") {
  const ThreadsRestored restore;
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
    for (int64_t where : {0, 500, 999}) {
      const auto body = [&](int64_t begin, int64_t end) {
        if (begin <= where && where < end) throw std::runtime_error("index " + std::to_string(where));
      };
      const std::string text = "index " + std::to_string(where);
      CHECK_THROWS_WITH_AS(parallel_for(1000, 1, body), text.c_str(), std::runtime_error);
      CHECK_THROWS_WITH_AS(parallel_tiles(1000, [&](int64_t tile) { body(tile, tile + 1); }), text.c_str(),
                           std::runtime_error);
      CHECK_THROWS_AS(parallel_tiles(1000, [](int64_t) { throw 7; }), int);
    }
    CHECK(visits(1000, 1) == std::vector<int>(1000, 1));
  }
}

TEST_CASE("several threads may run loops at once") {
  const ThreadsRestored restore;
  set_num_threads(2);
  std::atomic<int> good{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat) good += visits(5000, 64) == std::vector<int>(5000, 1);
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(good == 80);
}

TEST_CASE("a fork child of a threaded process finishes its loops") {
  const ThreadsRestored restore;
  set_num_threads(2);
  REQUIRE(visits(1000, 1) == std::vector<int>(1000, 1));  // the pool exists
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const bool good = visits(1000, 1) == std::vector<int>(1000, 1);
    int tiles = 0;
    parallel_tiles(10, [&](int64_t) { ++tiles; });
    _exit(good && tiles == 10 ? 0 : 1);
  }
  CHECK(status_of_child(child) == 0);
  CHECK(visits(1000, 1) == std::vector<int>(1000, 1));  // the parent keeps its pool
}
