#include "core/host_cell.h"

#include "core/dispatch_state.h"
#include "core/recording.h"

namespace fuselet {

void HostCell::set(double value) {
  if (CompiledCall* call = dispatch_state().compiled_call) call->before_cell_change(*this);
  value_.store(value, std::memory_order_relaxed);
}

void HostCell::advance(double by) {
  if (Recording* recording = dispatch_state().recording) {
    recording->record_advance(*this, by);
  } else {
    set(get() + by);
  }
}

}  // namespace fuselet
