#include "backends/cuda_sim/execute/signals.h"

#include <ucontext.h>

#include "backends/cuda_sim/execute/block.h"
#include "backends/cuda_sim/memory/device_memory.h"
#include "backends/cuda_sim/report/report.h"

namespace fuselet::cuda::sim {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE};
thread_local bool t_runs_kernel = false;
struct sigaction outer[3];

alignas(64) char signal_stack[32 * 1024];
// The report is made on a stack of its own: the kernel's may have overflowed.
alignas(64) char report_stack[256 * 1024];
int caught_signal;
uintptr_t caught_address;
const void* caught_pc;

[[noreturn]] void report_signal() {
  // The pc is of the instruction itself, not the one after a call.
  const void* pc = static_cast<const char*>(caught_pc) + 1;
  if (caught_signal == SIGFPE) fault(kErrorLaunchFailed, "division of integers by zero", pc);
  if (guard_page_of(caught_address) >= 0)
    fault(kErrorIllegalAddress,
          format("stack overflow: local variables of a thread take more than %zu bytes,", kStackBytes), pc);
  std::string problem;
  uint64_t offset = offset_of(caught_address);
  if (offset < g_space.span && claim(offset, 1, false, problem) != nullptr) problem = "may not be accessed";
  if (problem.empty()) problem = "is not device memory";
  fault(kErrorIllegalAddress, format("out of bounds: access at 0x%zx, which ", size_t{caught_address}) + problem + ",",
        pc);
}

void handle(int signal, siginfo_t* info, void* context) {
  if (!t_runs_kernel || g_block.current == nullptr) {
    for (int i = 0; i < 3; ++i)
      if (kSignals[i] == signal) sigaction(signal, &outer[i], nullptr);
    return;  // it comes again, to the handler before ours
  }
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  caught_signal = signal;
  caught_address = reinterpret_cast<uintptr_t>(info->si_addr);
  caught_pc = reinterpret_cast<const void*>(registers[REG_RIP]);
  registers[REG_RIP] = reinterpret_cast<greg_t>(&report_signal);
  registers[REG_RSP] = reinterpret_cast<greg_t>(report_stack + sizeof report_stack - 8);
}

}  // namespace

CatchSignals::CatchSignals() {
  stack_t stack = {};
  stack.ss_sp = signal_stack;
  stack.ss_size = sizeof signal_stack;
  sigaltstack(&stack, &stack_before_);
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int i = 0; i < 3; ++i) {
    sigaction(kSignals[i], &action, &before_[i]);
    outer[i] = before_[i];
  }
  t_runs_kernel = true;
}

CatchSignals::~CatchSignals() {
  t_runs_kernel = false;
  for (int i = 0; i < 3; ++i) sigaction(kSignals[i], &before_[i], nullptr);
  sigaltstack(&stack_before_, nullptr);
}

}  // namespace fuselet::cuda::sim
