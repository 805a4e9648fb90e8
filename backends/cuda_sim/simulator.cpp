#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

namespace {
thread_local ContextHandle t_context = nullptr;
}  // namespace

Simulator& simulator() {
  static Simulator* instance = new Simulator;
  return *instance;
}

void fail_device(Result error) {
  if (simulator().sticky == kSuccess) simulator().sticky = error;
}

ContextHandle the_context() {
  static char context;
  return reinterpret_cast<ContextHandle>(&context);
}
void set_current_context(ContextHandle context) { t_context = context; }
ContextHandle current_context() { return t_context; }

Call::Call(Needs needs) : guard_(simulator().lock), refused_(kSuccess) {
  if (needs == kNothing) return;
  if (!simulator().initialised)
    refused_ = kErrorNotInitialized;
  else if (needs == kContext && t_context == nullptr)
    refused_ = kErrorInvalidContext;
  else if (needs == kContext)
    refused_ = simulator().sticky;
}

}  // namespace fuselet::cuda::sim
