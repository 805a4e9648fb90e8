// What core knows of a running recording; compiler/trace/recorder.h has the rest.
#pragma once
#include <cstdint>

#include "core/host_cell.h"

namespace fuselet {
class TensorImpl;
}

namespace fuselet {

class Recording {
 public:
  virtual ~Recording() = default;
  // Numbers are never used again.
  virtual uint64_t id() const = 0;
  // A host cell was advanced inside the recording: takes effect when the recording runs, and again on each replay.
  virtual void record_advance(HostCell& cell, double by) = 0;
  // The `.grad` of a leaf is about to be replaced inside the recording.
  virtual void before_grad_change(TensorImpl& leaf) = 0;
};

}  // namespace fuselet
