// The faults that the compiler's own checks find in checked kernels. The first member of each descriptor that they hand
// over is the source location; the layouts are those of GCC's libubsan.
#include "backends/cuda_sim/execute/block.h"
#include "backends/cuda_sim/report/report.h"
#include "backends/cuda_sim/simulator.h"

namespace fuselet::cuda::sim {

namespace {

struct Location {
  const char* file;
  unsigned line, column;
};
struct TypeDescriptor {
  uint16_t kind, info;
  char name[1];
};
struct OutOfBounds {
  Location location;
  const TypeDescriptor* array;
  const TypeDescriptor* index;
};
struct TypeMismatch {
  Location location;
  const TypeDescriptor* type;
  unsigned char log_alignment;
  unsigned char kind;
};

}  // namespace

FUSELET_SIM_EXPORT void __wrap___ubsan_handle_out_of_bounds(OutOfBounds* data, size_t index) {
  fault(kErrorIllegalAddress,
        format("out of bounds: index %lld of %s,", static_cast<long long>(index), data->array->name),
        __builtin_return_address(0));
}

FUSELET_SIM_EXPORT void __wrap___ubsan_handle_type_mismatch_v1(TypeMismatch* data, uintptr_t address) {
  fault(kErrorMisalignedAddress,
        format("misaligned: access to %s at 0x%zx, which must be a multiple of %u,", data->type->name, size_t{address},
               1u << data->log_alignment),
        __builtin_return_address(0));
}

FUSELET_SIM_EXPORT void __wrap___ubsan_handle_shift_out_of_bounds(void*, uint64_t, uint64_t by) {
  finding(format("shift by %lld, not less than the width of the type,", static_cast<long long>(by)),
          __builtin_return_address(0));
}

FUSELET_SIM_EXPORT void __wrap___ubsan_handle_divrem_overflow(void*, uint64_t, uint64_t) {
  fault(kErrorLaunchFailed, "division of integers by zero, or of the smallest by -1,", __builtin_return_address(0));
}

}  // namespace fuselet::cuda::sim
