// The device on which operators that take no tensor make their result when none is named: factories, literals, layers.
//
//   set_default_device(parse_device("cuda"));   nn::Linear layer(4, 2);   // its parameters are on the device
//   { DefaultDeviceGuard inside({}); zeros({3}); }                         // on the CPU
//
// A setting of the calling thread, as grad mode is; a new thread starts with the CPU. What is read from files and what
// shares the host's memory (from_blob) stays on the host. A compiled function compares the setting as it does grad
// mode.
#pragma once
#include "core/dispatch_state.h"

namespace fuselet {

inline Device get_default_device() { return dispatch_state().default_device; }
inline void set_default_device(Device device) { dispatch_state().default_device = device; }

class DefaultDeviceGuard : StateGuard<Device> {
 public:
  explicit DefaultDeviceGuard(Device device) : StateGuard(&DispatchState::default_device, device) {}
};

}  // namespace fuselet
