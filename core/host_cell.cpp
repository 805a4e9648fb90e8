#include "core/host_cell.h"

#include "core/dispatch_state.h"
#include "core/recording.h"

namespace fuselet {

void HostCell::advance(double by) {
  if (Recording* recording = dispatch_state().recording) {
    recording->record_advance(*this, by);
  } else {
    set(get() + by);
  }
}

}  // namespace fuselet
