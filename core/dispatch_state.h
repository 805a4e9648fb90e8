// The one piece of ambient state: what the current thread has switched on.
// Grad mode, the running recording and its shape environment, default dtype and device, CUDA device and streams, the
// user's line. Threads do not inherit it: a new thread starts with the defaults.
#pragma once
#include <cstdint>
#include <string>

#include "core/device.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/matmul_precision.h"

namespace fuselet {

class CompiledCall;
class Recording;
class ShapeEnv;

struct DispatchState {
  bool grad_enabled = true;
  bool backward_running = false;
  // While a recording runs: the node recorded last, and the forward node whose backward runs now (-1: none).
  int32_t last_recorded = -1;
  int32_t forward_origin = -1;
  // Bit i set: layer i (see core/dispatch.h) takes part in calls of this thread.
  uint8_t layers = 0;
  DType default_dtype = DType::Float32;
  MatmulPrecision float32_matmul = MatmulPrecision::Highest;
  Device default_device;
  // The device that "cuda" means, and for each device the stream that operators run on (null: the device's default
  // one); the backend knows what they point at.
  int8_t cuda_device = 0;
  void* cuda_streams[kMaxCudaDevices] = {};
  Recording* recording = nullptr;
  ShapeEnv* shape_env = nullptr;
  // The compiled function whose own code runs now.
  CompiledCall* compiled_call = nullptr;
  // The innermost line of code outside the library that is calling; LineScope sets it.
  const Location* line = nullptr;
};

namespace detail {
// initial-exec: one load per access, also from the Python module.
extern thread_local constinit DispatchState t_dispatch_state __attribute__((tls_model("initial-exec")));
}  // namespace detail

inline DispatchState& dispatch_state() { return detail::t_dispatch_state; }

// "train.cpp:33", or what the frontend's hook says (Python knows its own frames); empty when unknown.
std::string current_line();
using LineHook = std::string (*)();
void set_line_hook(LineHook hook);

// Sets a member of the state for a scope.
template <class T>
class StateGuard {
 public:
  StateGuard(T DispatchState::*member, T value) : member_(member), saved_(dispatch_state().*member) {
    dispatch_state().*member_ = value;
  }
  ~StateGuard() { dispatch_state().*member_ = saved_; }
  StateGuard(const StateGuard&) = delete;

 private:
  T DispatchState::*member_;
  T saved_;
};

// No operator inside records a gradient.
class NoGradGuard : StateGuard<bool> {
 public:
  NoGradGuard() : StateGuard(&DispatchState::grad_enabled, false) {}
};
class GradModeGuard : StateGuard<bool> {
 public:
  explicit GradModeGuard(bool on) : StateGuard(&DispatchState::grad_enabled, on) {}
};

// Inside, operators run at once although a recording or a compiled function is running: for state that must exist
// before it, such as an optimizer's moments. Values of the recording cannot be used inside.
class PauseRecordingGuard {
 public:
  PauseRecordingGuard() : saved_(dispatch_state()) {
    dispatch_state().recording = nullptr;
    dispatch_state().shape_env = nullptr;
    dispatch_state().compiled_call = nullptr;
    dispatch_state().layers = 0;
  }
  ~PauseRecordingGuard() {
    dispatch_state().recording = saved_.recording;
    dispatch_state().shape_env = saved_.shape_env;
    dispatch_state().compiled_call = saved_.compiled_call;
    dispatch_state().layers = saved_.layers;
  }
  PauseRecordingGuard(const PauseRecordingGuard&) = delete;

 private:
  DispatchState saved_;
};

// True iff the line stands in the library's own sources, which are compiled under the prefix "fuselet:".
inline bool is_library_line(const Location& line) { return __builtin_strncmp(line.file_name(), "fuselet:", 8) == 0; }

// Makes `line` the origin of every operator inside, unless it stands in the library itself.
class LineScope {
 public:
  explicit LineScope(const Location* line) : saved_(dispatch_state().line) {
    if (line && !is_library_line(*line)) dispatch_state().line = line;
  }
  ~LineScope() { dispatch_state().line = saved_; }
  LineScope(const LineScope&) = delete;

 private:
  const Location* saved_;
};

}  // namespace fuselet
