#include "backends/cuda/streams/event.h"

#include "backends/cuda/driver/load_driver.h"
#include "backends/cuda/driver/result.h"
#include "backends/cuda/index_failures.h"
#include "core/error.h"

namespace fuselet::cuda {

Event::~Event() {
  if (handle_ && !is_shutting_down()) driver().cuEventDestroy(handle_);
}

void Event::record(const Stream& stream) {
  make_current(stream.device());
  if (!handle_) {
    device_ = stream.device();
    check(driver().cuEventCreate(&handle_, timing_ ? kEventDefault : kEventDisableTiming), "cuEventCreate");
  }
  FUSELET_CHECK(device_ == stream.device(), "event: it belongs to cuda:", device_,
                " and cannot be recorded on a stream of cuda:", stream.device());
  check(driver().cuEventRecord(handle_, stream.handle()), "cuEventRecord");
}

void Event::wait(const Stream& stream) const {
  if (!handle_) return;
  make_current(stream.device());
  check(driver().cuStreamWaitEvent(stream.handle(), handle_, 0), "cuStreamWaitEvent");
}

bool Event::query() const {
  if (!handle_) return true;
  make_current(device_);
  Result r = driver().cuEventQuery(handle_);
  if (r == kErrorNotReady) return false;
  check(r, "cuEventQuery");
  return true;
}

void Event::synchronize() const {
  if (!handle_) return;
  make_current(device_);
  check(driver().cuEventSynchronize(handle_), "cuEventSynchronize");
  raise_index_failure(device_);
}

float Event::elapsed_time(const Event& end) const {
  FUSELET_CHECK(timing_ && end.timing_, "elapsed_time: both events must be made with enable_timing=True");
  FUSELET_CHECK(handle_ && end.handle_, "elapsed_time: both events must have been recorded");
  FUSELET_CHECK(device_ == end.device_, "elapsed_time: the events belong to cuda:", device_, " and cuda:", end.device_);
  make_current(device_);
  float milliseconds = 0;
  Result r = driver().cuEventElapsedTime(&milliseconds, handle_, end.handle_);
  FUSELET_CHECK(r != kErrorNotReady, "elapsed_time: both events must have passed; call synchronize() first");
  check(r, "cuEventElapsedTime");
  return milliseconds;
}

}  // namespace fuselet::cuda
