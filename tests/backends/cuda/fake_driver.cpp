#include "tests/backends/cuda/fake_driver.h"

#include <doctest/doctest.h>

namespace fuselet::testing {
namespace {

using namespace fuselet::cuda;

FakeDriver* g_driver = nullptr;

struct FakeEvent {
  StreamHandle stream = nullptr;
  uint64_t number = 0;  // passes when so much of the stream's work is finished
};
FakeEvent& event_of(EventHandle e) { return *reinterpret_cast<FakeEvent*>(e); }

}  // namespace

// The functions of the table; each answers for the one driver that exists.
struct FakeCalls {
  static FakeDriver& d() { return *g_driver; }

  static Result set_context(ContextHandle) { return kSuccess; }
  static Result synchronize() {
    d().finish_all();
    return kSuccess;
  }
  static Result error_name(Result, const char** name) {
    *name = "CUDA_ERROR_FAKE";
    return kSuccess;
  }
  static Result error_string(Result, const char** text) {
    *text = "made up";
    return kSuccess;
  }
  static Result mem_alloc(DevicePtr* memory, size_t bytes) {
    if (d().fails_now() || d().reserved_ + bytes > d().capacity_) return kErrorOutOfMemory;
    *memory = d().next_address_;
    // A gap between any two memories, so that no block can be merged across it unnoticed.
    d().next_address_ += (bytes / 4096 + 2) * 4096;
    d().memories_[*memory] = bytes;
    d().reserved_ += bytes;
    return kSuccess;
  }
  static Result mem_free(DevicePtr memory) {
    auto it = d().memories_.find(memory);
    REQUIRE(it != d().memories_.end());
    REQUIRE_FALSE(d().is_used_elsewhere(memory, it->second, nullptr));
    d().reserved_ -= it->second;
    d().memories_.erase(it);
    return kSuccess;
  }
  static Result mem_get_info(size_t* free, size_t* total) {
    *total = d().capacity_;
    *free = d().capacity_ - d().reserved_;
    return kSuccess;
  }
  static Result host_alloc(void** memory, size_t bytes, unsigned) {
    if (d().fails_now()) return kErrorOutOfMemory;
    auto block = std::make_unique<char[]>(bytes);
    *memory = block.get();
    d().host_memories_[*memory] = std::move(block);
    return kSuccess;
  }
  static Result host_free(void* memory) {
    REQUIRE(d().host_memories_.erase(memory) == 1);
    return kSuccess;
  }
  static Result event_create(EventHandle* event, unsigned) {
    if (d().fails_now()) return kErrorOutOfMemory;
    *event = reinterpret_cast<EventHandle>(new FakeEvent());
    ++d().live_events_;
    return kSuccess;
  }
  static Result event_destroy(EventHandle event) {
    delete &event_of(event);
    --d().live_events_;
    return kSuccess;
  }
  static Result event_record(EventHandle event, StreamHandle stream) {
    event_of(event) = {stream, d().streams_[stream].given};
    return kSuccess;
  }
  static Result event_query(EventHandle event) {
    return d().streams_[event_of(event).stream].finished >= event_of(event).number ? kSuccess : kErrorNotReady;
  }
  static Result event_synchronize(EventHandle event) {
    d().finish_until(event_of(event).stream, event_of(event).number);
    return kSuccess;
  }
  static Result stream_synchronize(StreamHandle stream) {
    d().finish_until(stream, d().streams_[stream].given);
    return kSuccess;
  }
  static void announce(DevicePtr block, size_t bytes) {
    REQUIRE(d().announced_.find(block) == d().announced_.end());
    auto memory = d().memories_.upper_bound(block);
    REQUIRE(memory != d().memories_.begin());
    --memory;
    REQUIRE(block + bytes <= memory->first + memory->second);
    d().announced_[block] = bytes;
  }
  static void retire(DevicePtr block) { REQUIRE(d().announced_.erase(block) == 1); }
};

FakeDriver::FakeDriver(size_t capacity) : capacity_(capacity), next_address_(DevicePtr{1} << 40) {
  REQUIRE(g_driver == nullptr);
  g_driver = this;
  api_.cuCtxSetCurrent = FakeCalls::set_context;
  api_.cuCtxSynchronize = FakeCalls::synchronize;
  api_.cuGetErrorName = FakeCalls::error_name;
  api_.cuGetErrorString = FakeCalls::error_string;
  api_.cuMemAlloc = FakeCalls::mem_alloc;
  api_.cuMemFree = FakeCalls::mem_free;
  api_.cuMemGetInfo = FakeCalls::mem_get_info;
  api_.cuMemHostAlloc = FakeCalls::host_alloc;
  api_.cuMemFreeHost = FakeCalls::host_free;
  api_.cuEventCreate = FakeCalls::event_create;
  api_.cuEventDestroy = FakeCalls::event_destroy;
  api_.cuEventRecord = FakeCalls::event_record;
  api_.cuEventQuery = FakeCalls::event_query;
  api_.cuEventSynchronize = FakeCalls::event_synchronize;
  api_.cuStreamSynchronize = FakeCalls::stream_synchronize;
}

FakeDriver::~FakeDriver() { g_driver = nullptr; }

StreamHandle FakeDriver::stream(int i) {
  auto handle = reinterpret_cast<StreamHandle>(static_cast<uintptr_t>(i + 1) * 16);
  streams_[handle];
  return handle;
}

void FakeDriver::give_work(StreamHandle stream, DevicePtr start, size_t bytes) {
  StreamWork& s = streams_.at(stream);
  s.unfinished[++s.given] = {start, bytes};
}

void FakeDriver::finish_until(StreamHandle stream, uint64_t number) {
  StreamWork& s = streams_.at(stream);
  if (number <= s.finished) return;
  s.unfinished.erase(s.unfinished.begin(), s.unfinished.upper_bound(number));
  s.finished = number;
}

void FakeDriver::finish_one(StreamHandle stream) {
  StreamWork& s = streams_.at(stream);
  if (s.finished < s.given) finish_until(stream, s.finished + 1);
}

void FakeDriver::finish_all() {
  for (auto& [stream, s] : streams_) finish_until(stream, s.given);
}

bool FakeDriver::is_used_elsewhere(DevicePtr start, size_t bytes, StreamHandle stream) const {
  for (const auto& [other, s] : streams_) {
    if (other == stream) continue;
    for (const auto& [number, work] : s.unfinished) {
      if (work.start < start + bytes && start < work.start + work.bytes) return true;
    }
  }
  return false;
}

bool FakeDriver::fails_now() {
  ++memory_calls_;
  if (calls_until_failure_ < 0) return false;
  return calls_until_failure_-- == 0;
}

void FakeDriver::simulate() {
  api_.sim.announce_block = FakeCalls::announce;
  api_.sim.retire_block = FakeCalls::retire;
}

}  // namespace fuselet::testing
