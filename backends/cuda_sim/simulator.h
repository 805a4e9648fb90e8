// The state that every call shares: one lock, the sticky error, and what each thread has made current.
//
// Every driver call holds the lock from beginning to end, kernels included: one kernel runs at a time, on the thread
// whose call made it run. An object of the process, never destroyed, for frameworks free memory while they exit.
#pragma once
#include <mutex>

#include "backends/cuda/driver/driver_api.h"

namespace fuselet::cuda::sim {

inline constexpr Result kErrorInvalidDevice = 101;
inline constexpr Result kErrorInvalidImage = 200;

#define FUSELET_SIM_EXPORT extern "C" __attribute__((visibility("default")))

struct Simulator {
  std::recursive_mutex lock;
  bool initialised = false;
  // The first fault; from then on every call returns it, as with a real device. fuselet_cuda_sim_clear_reports resets.
  Result sticky = kSuccess;
};
Simulator& simulator();

// Keeps the first.
void fail_device(Result error);

ContextHandle the_context();
void set_current_context(ContextHandle context);
ContextHandle current_context();

// Holds the lock during a driver call; `refused` is why the call cannot go on: no cuInit, no context, a sticky error.
class Call {
 public:
  enum Needs { kNothing, kInit, kContext };
  explicit Call(Needs needs = kContext);
  Result refused() const { return refused_; }

 private:
  std::lock_guard<std::recursive_mutex> guard_;
  Result refused_;
};

}  // namespace fuselet::cuda::sim
