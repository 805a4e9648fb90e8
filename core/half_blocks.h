// Conversions of arrays between float and the half types, to the bits of half.h. Host only.
//
// float16 goes through the processor's own conversion (F16C) where there is one; bfloat16 through
// integer operations that GCC vectorises.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/half.h"

namespace fuselet {

inline void load_as_float(const float16* from, float* to, std::size_t n) {
  std::size_t whole = 0;
#if defined(__F16C__) && !defined(__clang__)
  typedef short Halves __attribute__((vector_size(16)));
  whole = n - n % 8;
  for (std::size_t i = 0; i < whole; i += 8) {
    Halves halves;
    __builtin_memcpy(&halves, from + i, sizeof halves);
    formula::float8v floats = __builtin_ia32_vcvtph2ps256(halves);
    __builtin_memcpy(to + i, &floats, sizeof floats);
  }
#endif
  for (std::size_t i = whole; i < n; ++i) to[i] = to_float(from[i]);
}

inline void store_from_float(const float* from, float16* to, std::size_t n) {
  std::size_t whole = 0;
#if defined(__F16C__) && !defined(__clang__)
  typedef short Halves __attribute__((vector_size(16)));
  constexpr int kNearestEven = 0;
  whole = n - n % 8;
  for (std::size_t i = 0; i < whole; i += 8) {
    formula::float8v floats;
    __builtin_memcpy(&floats, from + i, sizeof floats);
    Halves halves = __builtin_ia32_vcvtps2ph256(floats, kNearestEven);
    __builtin_memcpy(to + i, &halves, sizeof halves);
  }
#endif
  for (std::size_t i = whole; i < n; ++i) to[i] = to_float16(from[i]);
}

inline void load_as_float(const bfloat16* from, float* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] = to_float(from[i]);
}

inline void store_from_float(const float* from, bfloat16* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t bits = formula::to_bits(from[i]);
    std::uint32_t rounded = bits + 0x7fffu + (bits >> 16 & 1u), quiet = bits | 0x400000u;
    to[i].bits = static_cast<std::uint16_t>(((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded) >> 16);
  }
}

}  // namespace fuselet
