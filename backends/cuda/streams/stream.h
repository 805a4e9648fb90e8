// Streams: orders of work on a device. Work of one stream runs in order, work of two in any order unless one waits.
//
// A Stream is a handle; copies are the same stream. Streams are never destroyed: when the last handle is gone, the
// next new Stream of the device takes it over, behind whatever it still runs. Every stream is non-blocking: the
// driver's NULL stream takes no part, and each device has a default stream of its own.
#pragma once
#include <cstdint>
#include <utility>

#include "backends/cuda/device/devices.h"
#include "backends/cuda/driver/driver_api.h"

namespace fuselet::cuda {

class Event;
struct StreamState;

class Stream {
 public:
  // A stream of its own.
  explicit Stream(int device = current_device());
  Stream(const Stream& o);
  Stream(Stream&& o) noexcept : state_(std::exchange(o.state_, nullptr)) {}
  Stream& operator=(Stream o) noexcept {
    std::swap(state_, o.state_);
    return *this;
  }
  ~Stream();

  int device() const;
  StreamHandle handle() const;
  // Distinct for all streams of the process; 0 is no stream's.
  uint64_t id() const;
  friend bool operator==(const Stream& a, const Stream& b) { return a.state_ == b.state_; }

  // Later work of this stream starts after what `other`, of any device, has been given until now.
  void wait_stream(const Stream& other) const;
  // Later work starts after what came before the event's last record; nothing if it was never recorded.
  void wait_event(const Event& event) const;
  void record_event(Event& event) const;
  // True iff all work given until now has been done.
  bool query() const;
  // Waits on the host.
  void synchronize() const;

 private:
  friend Stream default_stream(int device);
  friend Stream current_stream(int device);
  friend void set_current_stream(const Stream& stream);
  explicit Stream(StreamState* state) : state_(state) {}
  StreamState* state_;
};

Stream default_stream(int device = current_device());
// Where this thread's operators on the device run; the default stream at first.
Stream current_stream(int device = current_device());
// The handle alone, without counting: for launches.
StreamHandle current_stream_handle(int device);
// For this thread and the stream's device. A thread that ends keeps its streams from being taken over.
void set_current_stream(const Stream& stream);

// Makes the stream and its device current for a scope.
class StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream) : saved_(current_stream(stream.device())), device_(stream.device()) {
    set_current_stream(stream);
  }
  ~StreamGuard() { set_current_stream(saved_); }
  StreamGuard(const StreamGuard&) = delete;

 private:
  Stream saved_;
  DeviceGuard device_;
};

// Keeps the current stream busy for about that many cycles of the device's clock; for tests of what waits for what.
void sleep(int64_t cycles);

}  // namespace fuselet::cuda
