#include "backends/cpu/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <exception>

namespace fuselet::cpu {
namespace {

// Neighbouring ranges share no cache line when elements have at least one byte.
constexpr int64_t kRangeMultiple = 64;

std::atomic<int> requested_threads{0};  // 0: OpenMP's default
std::atomic<bool> pool_started{false};
std::atomic<bool> pool_lost_in_fork{false};

void mark_fork_child() {
  if (pool_started.load(std::memory_order_relaxed)) pool_lost_in_fork.store(true, std::memory_order_relaxed);
}

// Registered before the first thread of a pool exists: a fork before that leaves a child that can start its own.
void note_pool_start() {
  static const int registered = pthread_atfork(nullptr, nullptr, mark_fork_child);
  (void)registered;
  pool_started.store(true, std::memory_order_relaxed);
}

bool must_run_inline() { return omp_in_parallel() != 0 || pool_lost_in_fork.load(std::memory_order_relaxed); }

// Keeps the first exception of a team; the others are dropped, as one thread can only throw one.
class FirstError {
 public:
  void capture() noexcept {
    if (!taken_.exchange(true, std::memory_order_acq_rel)) error_ = std::current_exception();
  }
  bool seen() const noexcept { return taken_.load(std::memory_order_relaxed); }
  // After the team has joined.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> taken_{false};
  std::exception_ptr error_;
};

}  // namespace

void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t useful = n <= grain ? 1 : (n - 1) / grain + 1;
  const int64_t threads = std::min<int64_t>(useful, get_num_threads());
  if (threads <= 1 || must_run_inline()) return body(0, n);

  note_pool_start();
  int64_t length = (n - 1) / threads + 1;
  if (grain >= kRangeMultiple) length = (length + kRangeMultiple - 1) / kRangeMultiple * kRangeMultiple;
  FirstError error;
#pragma omp parallel num_threads(static_cast <int>(threads))
  {
    // OpenMP may give fewer threads than asked for, so ranges are dealt in turn.
    for (int64_t range = omp_get_thread_num(); range < threads; range += omp_get_num_threads()) {
      const int64_t begin = range * length;
      const int64_t end = std::min(n, begin + length);
      if (begin >= end) continue;
      try {
        body(begin, end);
      } catch (...) {
        error.capture();
      }
    }
  }
  error.rethrow();
}

void parallel_tiles(int64_t count, FunctionRef<void(int64_t)> body) {
  const int64_t threads = std::min<int64_t>(count, get_num_threads());
  if (threads <= 1 || must_run_inline()) {
    for (int64_t tile = 0; tile < count; ++tile) body(tile);
    return;
  }

  note_pool_start();
  std::atomic<int64_t> next{0};
  FirstError error;
#pragma omp parallel num_threads(static_cast <int>(threads))
  {
    while (!error.seen()) {
      const int64_t tile = next.fetch_add(1, std::memory_order_relaxed);
      if (tile >= count) break;
      try {
        body(tile);
      } catch (...) {
        error.capture();
      }
    }
  }
  error.rethrow();
}

void set_num_threads(int n) { requested_threads.store(std::max(n, 1), std::memory_order_relaxed); }

int get_num_threads() {
  const int requested = requested_threads.load(std::memory_order_relaxed);
  return requested > 0 ? requested : std::max(omp_get_max_threads(), 1);
}

}  // namespace fuselet::cpu
