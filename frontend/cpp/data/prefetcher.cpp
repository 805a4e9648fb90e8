#include "frontend/cpp/data/prefetcher.h"

namespace fuselet::data {

Prefetcher::Prefetcher(std::function<Example(int64_t)> job, int64_t first, int64_t last, int threads, int64_t ahead)
    : job_(std::move(job)), next_job_(first), next_taken_(first), last_(last), ahead_(ahead) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Prefetcher::~Prefetcher() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Prefetcher::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || next_job_ >= last_ || next_job_ < next_taken_ + ahead_; });
    if (stopping_ || next_job_ >= last_) return;
    int64_t number = next_job_++;
    lock.unlock();
    Result result;
    try {
      result.value = job_(number);
    } catch (...) {
      result.error = std::current_exception();
    }
    lock.lock();
    results_.emplace(number, std::move(result));
    changed_.notify_all();
  }
}

Example Prefetcher::take() {
  std::unique_lock lock(mutex_);
  FUSELET_INTERNAL_CHECK(next_taken_ < last_, "a prefetcher was asked for more jobs than it has");
  changed_.wait(lock, [&] { return results_.count(next_taken_) != 0; });
  Result result = std::move(results_.extract(next_taken_++).mapped());
  if (result.error) stopping_ = true;
  lock.unlock();
  changed_.notify_all();
  if (result.error) std::rethrow_exception(result.error);
  return std::move(result.value);
}

}  // namespace fuselet::data
