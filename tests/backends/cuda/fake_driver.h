// A driver for tests of memory alone: addresses without memory behind them, and streams whose work is a count that the
// test gives and finishes. Only the functions that allocators call are there. One at a time.
//
// It fails the test where memory is given back that unfinished work still uses, or that was never taken.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "backends/cuda/driver/driver_api.h"

namespace fuselet::testing {

class FakeDriver {
 public:
  explicit FakeDriver(size_t capacity);
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;

  const cuda::DriverApi& api() const { return api_; }
  cuda::StreamHandle stream(int i);

  // The stream is given work on [start, start + bytes), unfinished until one of the following.
  void give_work(cuda::StreamHandle stream, cuda::DevicePtr start, size_t bytes);
  void finish_one(cuda::StreamHandle stream);
  void finish_all();
  // Whether unfinished work of a stream other than `stream` uses a byte of the range.
  bool is_used_elsewhere(cuda::DevicePtr start, size_t bytes, cuda::StreamHandle stream) const;

  // The n-th call from now on of a function that takes memory fails, once; -1: none.
  void fail_memory_call(int n) { calls_until_failure_ = n; }
  int memory_calls() const { return memory_calls_; }

  size_t reserved() const { return reserved_; }
  size_t live_memories() const { return memories_.size(); }
  size_t live_host_memories() const { return host_memories_.size(); }
  size_t live_events() const { return live_events_; }
  size_t announced() const { return announced_.size(); }
  void simulate();  // announce_block and retire_block are there, as with the simulated device

 private:
  friend struct FakeCalls;
  struct Work {
    cuda::DevicePtr start;
    size_t bytes;
  };
  struct StreamWork {
    uint64_t given = 0, finished = 0;
    std::map<uint64_t, Work> unfinished;
  };
  bool fails_now();
  void finish_until(cuda::StreamHandle stream, uint64_t number);

  cuda::DriverApi api_;
  size_t capacity_, reserved_ = 0, live_events_ = 0;
  cuda::DevicePtr next_address_;
  int calls_until_failure_ = -1, memory_calls_ = 0;
  std::map<cuda::DevicePtr, size_t> memories_;
  std::map<cuda::DevicePtr, size_t> announced_;
  std::map<cuda::StreamHandle, StreamWork> streams_;
  std::map<void*, std::unique_ptr<char[]>> host_memories_;
};

}  // namespace fuselet::testing
