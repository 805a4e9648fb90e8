// Events: points in a stream's work, to wait for from other streams or the host, and to measure time between.
// An event belongs to the device of its first record.
#pragma once
#include <utility>

#include "backends/cuda/driver/driver_api.h"
#include "backends/cuda/streams/stream.h"

namespace fuselet::cuda {

class Event {
 public:
  explicit Event(bool enable_timing = false) : timing_(enable_timing) {}
  Event(Event&& o) noexcept : handle_(std::exchange(o.handle_, nullptr)), device_(o.device_), timing_(o.timing_) {}
  Event& operator=(Event o) noexcept {
    std::swap(handle_, o.handle_);
    std::swap(device_, o.device_);
    std::swap(timing_, o.timing_);
    return *this;
  }
  ~Event();

  // Marks what the stream has been given until now; a later record replaces it.
  void record(const Stream& stream = current_stream());
  bool is_recorded() const { return handle_ != nullptr; }
  // Later work of the stream starts after it.
  void wait(const Stream& stream = current_stream()) const;
  // True iff it has passed, or was never recorded.
  bool query() const;
  void synchronize() const;
  // Milliseconds from this event to `end`. Both must have been made with timing and have been recorded; waits for
  // neither: Error while one has not passed.
  float elapsed_time(const Event& end) const;
  EventHandle handle() const { return handle_; }

 private:
  EventHandle handle_ = nullptr;
  int device_ = 0;
  bool timing_;
};

}  // namespace fuselet::cuda
