// Runs numbered jobs on background threads, a bounded number ahead of the consumer, and hands the results out in order.
// An exception of job i is thrown by the take() that asks for i; then the rest is dropped.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "frontend/cpp/data/dataset.h"

namespace fuselet::data {

class Prefetcher {
 public:
  // Jobs first … last - 1; `job` runs on several threads at once.
  Prefetcher(std::function<Example(int64_t)> job, int64_t first, int64_t last, int threads, int64_t ahead);
  // Waits for running jobs; those not begun are dropped.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  // The result of the next job; called `last - first` times at most.
  Example take();

 private:
  struct Result {
    Example value;
    std::exception_ptr error;
  };
  void work();

  std::function<Example(int64_t)> job_;
  int64_t next_job_, next_taken_, last_, ahead_;
  bool stopping_ = false;
  std::map<int64_t, Result> results_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
};

}  // namespace fuselet::data
