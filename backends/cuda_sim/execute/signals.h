// Faults of the processor while a kernel runs become reports, as on a device: the kernel is abandoned, the process
// lives.
#pragma once
#include <csignal>

namespace fuselet::cuda::sim {

// While one lives, SIGSEGV, SIGBUS and SIGFPE of this thread are the kernel's; those of other threads go where they
// went.
class CatchSignals {
 public:
  CatchSignals();
  ~CatchSignals();
  CatchSignals(const CatchSignals&) = delete;

 private:
  struct sigaction before_[3];
  stack_t stack_before_;
};

}  // namespace fuselet::cuda::sim
