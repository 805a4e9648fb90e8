// Blocks that streams still use: each waits for events recorded on those streams before it may be used again.
//
// Not synchronised, and the context must be current: the owner sees to both. Does not serve streams that are being
// captured: an event recorded there never passes on its own.
#pragma once
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "backends/cuda/driver/driver_api.h"

namespace fuselet::cuda {

class DeferredReuse {
 public:
  explicit DeferredReuse(const DriverApi& api) : api_(api) {}
  ~DeferredReuse();
  DeferredReuse(const DeferredReuse&) = delete;

  // Blocks that wait.
  size_t size() const { return num_waiting_; }
  // The block waits for what the streams have been given until now. False if it need not wait: all of it is done.
  // Never throws for the driver: where no event can be recorded, it waits for the stream itself.
  bool defer(void* block, std::span<const StreamHandle> streams) noexcept;
  // The blocks whose last event has passed; blocks of one stream in the order they came.
  std::vector<void*> take_ready();
  // Waits on the host until every block is ready.
  std::vector<void*> wait_for_all();

 private:
  struct Waiting {
    void* block;
    size_t events;
  };
  struct Mark {
    EventHandle event;
    Waiting* waiting;
  };
  EventHandle take_event();
  void pass(Mark mark, std::vector<void*>& ready);

  const DriverApi& api_;
  std::unordered_map<StreamHandle, std::deque<Mark>> marks_;
  std::vector<EventHandle> unused_events_;
  size_t num_waiting_ = 0;
};

}  // namespace fuselet::cuda
