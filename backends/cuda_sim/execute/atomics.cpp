// Atomic operations. One thread runs at a time, so each is a plain read and write behind one check.
#include <bit>

#include "backends/cuda_sim/execute/access.h"
#include "backends/cuda_sim/execute/block.h"
#include "backends/cuda_sim/report/report.h"
#include "backends/cuda_sim/settings.h"
#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

namespace {

template <class U, class S, class F>
U updated(U old, int kind, U value, U compare) {
  switch (kind) {
    case 0:
      return old + value;
    case 1:
      return old < value ? old : value;
    case 2:
      return old > value ? old : value;
    case 3:
      return old & value;
    case 4:
      return old | value;
    case 5:
      return old ^ value;
    case 6:
      return value;
    case 7:
      return old == compare ? value : old;
    case 8:
      return static_cast<S>(old) < static_cast<S>(value) ? old : value;
    case 9:
      return static_cast<S>(old) > static_cast<S>(value) ? old : value;
    case 12:
      return old >= value ? 0 : old + 1;
    case 13:
      return old == 0 || old > value ? value : old - 1;
    default:
      return std::bit_cast<U>(std::bit_cast<F>(old) + std::bit_cast<F>(value));
  }
}

template <class U, class S, class F>
U atomic(void* address, int kind, U value, U compare, const void* pc) {
  auto number = reinterpret_cast<uintptr_t>(address);
  if (number % sizeof(U) != 0)
    fault(kErrorMisalignedAddress, format("misaligned: atomic operation on %zu bytes at 0x%zx,", sizeof(U), number),
          pc);
  if (settings().checked) check_access(number, sizeof(U), Access::Atomic, pc);
  U* memory = static_cast<U*>(address);
  U old = *memory;
  *memory = updated<U, S, F>(old, kind, value, compare);
  return old;
}

}  // namespace

FUSELET_SIM_EXPORT unsigned sim_atomic32(void* address, int kind, unsigned value, unsigned compare) {
  return atomic<uint32_t, int32_t, float>(address, kind, value, compare, __builtin_return_address(0));
}
FUSELET_SIM_EXPORT unsigned long long sim_atomic64(void* address, int kind, unsigned long long value,
                                                   unsigned long long compare) {
  return atomic<uint64_t, int64_t, double>(address, kind, value, compare, __builtin_return_address(0));
}

}  // namespace fuselet::cuda::sim
