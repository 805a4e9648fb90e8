// From random words to integers of a range, and to uniforms of the 16-bit types. Words are philox.h's.
//
//   randint of n = high - low values
//     n <= 2^32   low + (word i * n >> 32)
//     larger      low + (bits * n >> 64), bits = words 2 * (i % 2) (low half) and the next of block i / 2
//                 (multiply-shift; the bias is below n / 2^32, and n / 2^64)
//   uniform of 16 bits: the uniform float of the word with all but its top bits cleared, 11 for float16 and 8 for
//   bfloat16,
//                 so that no value rounds up to 1.
// Includes no standard header; NVRTC compiles it.
#pragma once

#include "core/philox.h"

namespace fuselet::philox {

inline constexpr unsigned kUniformMaskFloat16 = 0xffe00000u;
inline constexpr unsigned kUniformMaskBFloat16 = 0xff000000u;

// The range of high - low; 0 stands for 2^64.
FUSELET_FN bool range_fits_word(unsigned long long range) { return range != 0 && range <= 0x100000000ull; }

// Wraps around, so that any int64 bounds work.
FUSELET_FN long long integer_of_word(unsigned word, unsigned long long range, long long low) {
  // range may be 2^32 itself: then the word as it is.
  unsigned long long picked = range == 0x100000000ull ? word : (unsigned long long)word * range >> 32;
  return (long long)((unsigned long long)low + picked);
}

FUSELET_FN unsigned long long high_product(unsigned long long x, unsigned long long y) {
  unsigned long long x0 = x & 0xffffffffull, x1 = x >> 32, y0 = y & 0xffffffffull, y1 = y >> 32;
  unsigned long long middle = x1 * y0 + (x0 * y0 >> 32), carry = x0 * y1 + (middle & 0xffffffffull);
  return x1 * y1 + (middle >> 32) + (carry >> 32);
}

FUSELET_FN long long integer_of_words(unsigned low_word, unsigned high_word, unsigned long long range, long long low) {
  unsigned long long bits = (unsigned long long)high_word << 32 | low_word;
  return (long long)((unsigned long long)low + (range == 0 ? bits : high_product(bits, range)));
}

}  // namespace fuselet::philox
