// The calls that the compiler puts into checked kernels. hooks.cpp and undefined_behaviour.cpp define each with
// __wrap_ before its name, and compile_object.cpp has the linker direct kernels there.
#pragma once

#define FUSELET_SIM_HOOKS(X)            \
  X(__tsan_init)                        \
  X(__tsan_func_entry)                  \
  X(__tsan_func_exit)                   \
  X(__tsan_read1)                       \
  X(__tsan_read2)                       \
  X(__tsan_read4)                       \
  X(__tsan_read8)                       \
  X(__tsan_read16)                      \
  X(__tsan_write1)                      \
  X(__tsan_write2)                      \
  X(__tsan_write4)                      \
  X(__tsan_write8)                      \
  X(__tsan_write16)                     \
  X(__tsan_unaligned_read2)             \
  X(__tsan_unaligned_read4)             \
  X(__tsan_unaligned_read8)             \
  X(__tsan_unaligned_read16)            \
  X(__tsan_unaligned_write2)            \
  X(__tsan_unaligned_write4)            \
  X(__tsan_unaligned_write8)            \
  X(__tsan_unaligned_write16)           \
  X(__tsan_read_range)                  \
  X(__tsan_write_range)                 \
  X(__sanitizer_cov_trace_pc)           \
  X(__ubsan_handle_out_of_bounds)       \
  X(__ubsan_handle_type_mismatch_v1)    \
  X(__ubsan_handle_shift_out_of_bounds) \
  X(__ubsan_handle_divrem_overflow)     \
  X(memcpy)                             \
  X(memmove)                            \
  X(memset)
