// What checked kernels call at each load, store and basic block.
#include <cstring>

#include "backends/cuda_sim/execute/access.h"
#include "backends/cuda_sim/execute/block.h"
#include "backends/cuda_sim/report/report.h"
#include "backends/cuda_sim/settings.h"
#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

namespace {

inline uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

[[gnu::noinline, noreturn]] void misaligned(uintptr_t address, size_t bytes, const void* pc) {
  fault(kErrorMisalignedAddress, format("misaligned: access of %zu bytes at 0x%zx,", bytes, size_t{address}), pc);
}

inline void access(void* address, size_t bytes, Access kind, const void* pc) {
  if (number(address) % bytes != 0) misaligned(number(address), bytes, pc);
  check_access(number(address), bytes, kind, pc);
}

[[gnu::noinline, noreturn]] void endless(const void* pc) {
  fault(kErrorLaunchTimeout,
        format("endless loop? the thread has run more than %llu basic blocks (FUSELET_SIM_STEPS),",
               static_cast<unsigned long long>(settings().steps)),
        pc);
}

}  // namespace

#define FUSELET_SIM_PC __builtin_return_address(0)
#define FUSELET_SIM_SIZED(bytes)                                                \
  FUSELET_SIM_EXPORT void __wrap___tsan_read##bytes(void* address) {            \
    access(address, bytes, Access::Read, FUSELET_SIM_PC);                       \
  }                                                                             \
  FUSELET_SIM_EXPORT void __wrap___tsan_write##bytes(void* address) {           \
    access(address, bytes, Access::Write, FUSELET_SIM_PC);                      \
  }                                                                             \
  FUSELET_SIM_EXPORT void __wrap___tsan_unaligned_read##bytes(void* address) {  \
    check_access(number(address), bytes, Access::Read, FUSELET_SIM_PC);         \
  }                                                                             \
  FUSELET_SIM_EXPORT void __wrap___tsan_unaligned_write##bytes(void* address) { \
    check_access(number(address), bytes, Access::Write, FUSELET_SIM_PC);        \
  }
FUSELET_SIM_SIZED(1)
FUSELET_SIM_SIZED(2)
FUSELET_SIM_SIZED(4)
FUSELET_SIM_SIZED(8)
FUSELET_SIM_SIZED(16)

FUSELET_SIM_EXPORT void __wrap___tsan_read_range(void* address, size_t bytes) {
  if (bytes != 0) check_access(number(address), bytes, Access::Read, FUSELET_SIM_PC);
}
FUSELET_SIM_EXPORT void __wrap___tsan_write_range(void* address, size_t bytes) {
  if (bytes != 0) check_access(number(address), bytes, Access::Write, FUSELET_SIM_PC);
}

FUSELET_SIM_EXPORT void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
  if (g_block.current != nullptr && bytes != 0) {
    check_access(number(from), bytes, Access::Read, FUSELET_SIM_PC);
    check_access(number(to), bytes, Access::Write, FUSELET_SIM_PC);
  }
  return std::memcpy(to, from, bytes);
}
FUSELET_SIM_EXPORT void* __wrap_memmove(void* to, const void* from, size_t bytes) {
  if (g_block.current != nullptr && bytes != 0) {
    check_access(number(from), bytes, Access::Read, FUSELET_SIM_PC);
    check_access(number(to), bytes, Access::Write, FUSELET_SIM_PC);
  }
  return std::memmove(to, from, bytes);
}
FUSELET_SIM_EXPORT void* __wrap_memset(void* to, int value, size_t bytes) {
  if (g_block.current != nullptr && bytes != 0) check_access(number(to), bytes, Access::Write, FUSELET_SIM_PC);
  return std::memset(to, value, bytes);
}

FUSELET_SIM_EXPORT void __wrap___sanitizer_cov_trace_pc() {
  Thread* thread = g_block.current;  // null while an object's constructors run
  if (thread != nullptr && ++thread->steps > settings().steps) endless(FUSELET_SIM_PC);
}

// Called while an object is loaded.
FUSELET_SIM_EXPORT void __wrap___tsan_init() {}
FUSELET_SIM_EXPORT void __wrap___tsan_func_entry(void*) {}
FUSELET_SIM_EXPORT void __wrap___tsan_func_exit() {}

}  // namespace fuselet::cuda::sim
