// Values by key, each built once: who asks first builds, others wait for that thread. What could not be built is
// forgotten, so that the next call tries again.
#pragma once
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace fuselet::jit {

// V is copied out; is_built(V) tells whether it is worth remembering.
template <class V>
class BuildOnce {
 public:
  struct Found {
    V value;
    bool was_there = false;  // another call has built it
  };

  // `build` gets the numbers of the keys that this call has to build and returns their values in order. Throws what it
  // throws, after letting those who wait have empty values.
  template <class Build, class IsBuilt>
  std::vector<Found> get(const std::vector<std::string>& keys, Build&& build, IsBuilt&& is_built) {
    std::vector<std::shared_ptr<Entry>> entries(keys.size());
    std::vector<size_t> own;
    {
      std::lock_guard lock(mutex_);
      for (size_t i = 0; i < keys.size(); ++i) {
        auto [found, is_new] = entries_.try_emplace(keys[i]);
        if (is_new) {
          found->second = std::make_shared<Entry>();
          own.push_back(i);
        }
        entries[i] = found->second;
      }
    }
    if (!own.empty()) {
      std::vector<V> built(own.size());
      std::exception_ptr error;
      try {
        built = build(own);
      } catch (...) {
        error = std::current_exception();
      }
      std::lock_guard lock(mutex_);
      for (size_t k = 0; k < own.size(); ++k) {
        Entry& entry = *entries[own[k]];
        entry.value = std::move(built[k]);
        entry.done = true;
        if (!is_built(entry.value)) entries_.erase(keys[own[k]]);
      }
      built_.notify_all();
      if (error) std::rethrow_exception(error);
    }
    std::vector<Found> result(keys.size());
    std::vector<bool> is_own(keys.size());
    for (size_t i : own) is_own[i] = true;
    std::unique_lock lock(mutex_);
    for (size_t i = 0; i < keys.size(); ++i) {
      built_.wait(lock, [&] { return entries[i]->done; });
      result[i] = {entries[i]->value, !is_own[i]};
    }
    return result;
  }

  void forget() {
    std::lock_guard lock(mutex_);
    entries_.clear();
  }

 private:
  struct Entry {
    bool done = false;
    V value{};
  };
  std::mutex mutex_;
  std::condition_variable built_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
};

}  // namespace fuselet::jit
