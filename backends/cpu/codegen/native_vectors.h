// How wide this machine's vector registers are.
#pragma once

namespace fuselet::cpu::codegen {

inline int native_vector_bytes() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return 64;
  if (__builtin_cpu_supports("avx2")) return 32;
#endif
  return 16;
}

}  // namespace fuselet::cpu::codegen
