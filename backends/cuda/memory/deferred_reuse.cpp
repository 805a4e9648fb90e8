#include "backends/cuda/memory/deferred_reuse.h"

namespace fuselet::cuda {

DeferredReuse::~DeferredReuse() {
  wait_for_all();
  for (EventHandle event : unused_events_) api_.cuEventDestroy(event);
}

EventHandle DeferredReuse::take_event() {
  EventHandle event = nullptr;
  if (!unused_events_.empty()) {
    event = unused_events_.back();
    unused_events_.pop_back();
  } else if (api_.cuEventCreate(&event, kEventDisableTiming) != kSuccess) {
    event = nullptr;
  }
  return event;
}

bool DeferredReuse::defer(void* block, std::span<const StreamHandle> streams) noexcept {
  auto* waiting = new Waiting{block, 0};
  for (StreamHandle stream : streams) {
    EventHandle event = take_event();
    if (event && api_.cuEventRecord(event, stream) == kSuccess) {
      marks_[stream].push_back({event, waiting});
      ++waiting->events;
      continue;
    }
    if (event) unused_events_.push_back(event);
    // Also where this fails, the device is done with the stream: only after a fault that ends all its work.
    api_.cuStreamSynchronize(stream);
  }
  const bool waits = waiting->events > 0;
  if (waits) {
    ++num_waiting_;
  } else {
    delete waiting;
  }
  return waits;
}

void DeferredReuse::pass(Mark mark, std::vector<void*>& ready) {
  unused_events_.push_back(mark.event);
  if (--mark.waiting->events > 0) return;
  ready.push_back(mark.waiting->block);
  delete mark.waiting;
  --num_waiting_;
}

std::vector<void*> DeferredReuse::take_ready() {
  std::vector<void*> ready;
  if (num_waiting_ == 0) return ready;
  for (auto& [stream, marks] : marks_) {
    while (!marks.empty() && api_.cuEventQuery(marks.front().event) != kErrorNotReady) {
      pass(marks.front(), ready);
      marks.pop_front();
    }
  }
  return ready;
}

std::vector<void*> DeferredReuse::wait_for_all() {
  std::vector<void*> ready;
  for (auto& [stream, marks] : marks_) {
    for (const Mark& mark : marks) {
      api_.cuEventSynchronize(mark.event);
      pass(mark, ready);
    }
    marks.clear();
  }
  return ready;
}

}  // namespace fuselet::cuda
