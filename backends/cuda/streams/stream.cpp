#include "backends/cuda/streams/stream.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/index_failures.h"
#include "backends/cuda/streams/event.h"
#include "core/error.h"

namespace fuselet::cuda {

struct StreamState {
  int device;
  StreamHandle handle;
  uint64_t id;
  std::atomic<int> handles = 0;
};

namespace {

struct DeviceStreams {
  std::mutex mutex;
  std::vector<StreamState*> unused;
  std::atomic<StreamState*> default_stream = nullptr;
};

DeviceStreams& streams_of(int device) {
  static auto* streams = new DeviceStreams[kMaxCudaDevices];
  check_device(device);
  return streams[device];
}

StreamState* make_stream(int device) {
  static std::atomic<uint64_t> next_id = 1;
  make_current(device);
  StreamHandle handle = nullptr;
  check(driver().cuStreamCreate(&handle, kStreamNonBlocking), "cuStreamCreate");
  return new StreamState{device, handle, next_id++};
}

StreamState* take_stream(int device) {
  DeviceStreams& streams = streams_of(device);
  {
    std::lock_guard lock(streams.mutex);
    if (!streams.unused.empty()) {
      StreamState* state = streams.unused.back();
      streams.unused.pop_back();
      return state;
    }
  }
  return make_stream(device);
}

StreamState* default_state(int device) {
  DeviceStreams& streams = streams_of(device);
  if (StreamState* state = streams.default_stream.load(std::memory_order_acquire)) return state;
  std::lock_guard lock(streams.mutex);
  if (!streams.default_stream.load()) {
    StreamState* state = make_stream(device);
    state->handles = 1;  // never taken over
    streams.default_stream.store(state, std::memory_order_release);
  }
  return streams.default_stream.load();
}

StreamState* add_handle(StreamState* state) {
  if (state) state->handles.fetch_add(1, std::memory_order_relaxed);
  return state;
}

void drop_handle(StreamState* state) {
  if (!state || state->handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  DeviceStreams& streams = streams_of(state->device);
  std::lock_guard lock(streams.mutex);
  streams.unused.push_back(state);
}

StreamState* current_state(int device) {
  check_device(device);
  auto* state = static_cast<StreamState*>(dispatch_state().cuda_streams[device]);
  return state ? state : default_state(device);
}

}  // namespace

Stream::Stream(int device) : state_(add_handle(take_stream(device))) {}
Stream::Stream(const Stream& o) : state_(add_handle(o.state_)) {}
Stream::~Stream() { drop_handle(state_); }

int Stream::device() const { return state_->device; }
StreamHandle Stream::handle() const { return state_->handle; }
uint64_t Stream::id() const { return state_->id; }

void Stream::wait_stream(const Stream& other) const {
  if (*this == other) return;
  Event done;
  done.record(other);
  wait_event(done);
}

void Stream::wait_event(const Event& event) const { event.wait(*this); }
void Stream::record_event(Event& event) const { event.record(*this); }

bool Stream::query() const {
  make_current(device());
  Result r = driver().cuStreamQuery(handle());
  if (r == kErrorNotReady) return false;
  check(r, "cuStreamQuery");
  return true;
}

void Stream::synchronize() const {
  make_current(device());
  check(driver().cuStreamSynchronize(handle()), "cuStreamSynchronize");
  raise_index_failure(device());
}

Stream default_stream(int device) { return Stream(add_handle(default_state(device))); }
Stream current_stream(int device) { return Stream(add_handle(current_state(device))); }
StreamHandle current_stream_handle(int device) { return current_state(device)->handle; }

void set_current_stream(const Stream& stream) {
  void*& slot = dispatch_state().cuda_streams[stream.device()];
  auto* before = static_cast<StreamState*>(slot);
  slot = add_handle(stream.state_);
  drop_handle(before);
}

void sleep(int64_t cycles) {
  FUSELET_CHECK(cycles >= 0, "sleep: expected a number of cycles, got ", cycles);
  const int device = current_device();
  const int64_t khz = std::max(device_properties(device).clock_khz, 1);
  auto* nanoseconds = new std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(cycles) / khz * 1e6));
  auto rest = [](void* argument) {
    auto* time = static_cast<std::chrono::nanoseconds*>(argument);
    std::this_thread::sleep_for(*time);
    delete time;
  };
  make_current(device);
  Result r = driver().cuLaunchHostFunc(current_stream_handle(device), rest, nanoseconds);
  if (r != kSuccess) delete nanoseconds;
  check(r, "cuLaunchHostFunc");
}

}  // namespace fuselet::cuda
