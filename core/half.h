// float16 and bfloat16: storage types with conversions; arithmetic is done in float.
//
// Every conversion to a half type rounds once, to nearest even, from float or from double; overflow
// gives infinity, subnormals are kept, NaN stays NaN (quiet, sign and upper payload bits kept).
// Conversions to float are exact. half_blocks.h converts whole arrays to the same bits. Includes no
// header, for NVRTC compiles it as well.
#pragma once

#include "core/formulas/lanes.h"

namespace fuselet {

struct float16 {
  unsigned short bits;
};
struct bfloat16 {
  unsigned short bits;
};

FUSELET_FN float to_float(bfloat16 x) { return formula::from_bits<float>((unsigned)x.bits << 16); }

FUSELET_FN float to_float(float16 x) {
  unsigned sign = (x.bits & 0x8000u) << 16, magnitude = x.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) {
    unsigned quiet = magnitude > 0x7c00u ? 0x400000u : 0;
    return formula::from_bits<float>(sign | 0x7f800000u | quiet | (magnitude & 0x3ffu) << 13);
  }
  // As float exponent bits the value is too small by 2^112; the product is exact, for subnormals
  // too.
  float scaled = formula::from_bits<float>(magnitude << 13) * 0x1p112f;
  return formula::from_bits<float>(sign | formula::to_bits(scaled));
}

// Rounds a finite or infinite double to Exponent and Mantissa bits and gives the pattern; NaN is
// not handled.
template <int Exponent, int Mantissa>
FUSELET_FN unsigned short rounded_bits(double x) {
  constexpr int kBias = (1 << (Exponent - 1)) - 1;
  constexpr unsigned kInfinity = ((1u << Exponent) - 1) << Mantissa;
  unsigned long long bits = formula::to_bits(x);
  unsigned sign = (unsigned)(bits >> 63) << (Exponent + Mantissa);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  if (exponent > kBias) return (unsigned short)(sign | kInfinity);
  if (exponent < -kBias - Mantissa) return (unsigned short)sign;  // below half of the smallest subnormal
  unsigned long long significand = (bits & 0xfffffffffffffull) | 1ull << 52;
  // Subnormal results drop more bits.
  int dropped = 52 - Mantissa + (exponent < 1 - kBias ? 1 - kBias - exponent : 0);
  unsigned long long kept = significand >> dropped, rest = significand & ((1ull << dropped) - 1),
                     half = 1ull << (dropped - 1);
  kept += rest > half || (rest == half && (kept & 1));
  // A carry runs on into the exponent, up to infinity.
  unsigned base = exponent < 1 - kBias ? 0 : (unsigned)(exponent + kBias - 1) << Mantissa;
  return (unsigned short)(sign | (base + (unsigned)kept));
}

// x as double, rounded to odd: a later rounding to fewer bits gives what one rounding of x would.
FUSELET_FN double to_odd_double(long x) {
  constexpr int kSignificand = 53;
  unsigned long magnitude = x < 0 ? -(unsigned long)x : (unsigned long)x;
#ifdef FUSELET_DEVICE_FORMULAS
  int used = 64 - __clzll((long long)(magnitude | 1));
#else
  int used = 64 - __builtin_clzl(magnitude | 1);
#endif
  int dropped = used - kSignificand;
  if (dropped > 0) {
    unsigned long kept = magnitude >> dropped << dropped;
    if (kept != magnitude) kept |= 1ul << dropped;
    magnitude = kept;
  }
  double result = (double)magnitude;
  return x < 0 ? -result : result;
}

FUSELET_FN float16 to_float16(double x) {
  if (x != x) {
    unsigned long long bits = formula::to_bits(x);
    return {(unsigned short)((bits >> 48 & 0x8000) | 0x7e00 | (bits >> 42 & 0x1ff))};
  }
  return {rounded_bits<5, 10>(x)};
}

FUSELET_FN bfloat16 to_bfloat16(double x) {
  if (x != x) {
    unsigned long long bits = formula::to_bits(x);
    return {(unsigned short)((bits >> 48 & 0x8000) | 0x7fc0 | (bits >> 45 & 0x3f))};
  }
  return {rounded_bits<8, 7>(x)};
}

FUSELET_FN float16 to_float16(float x) {
  unsigned bits = formula::to_bits(x), magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
  if (magnitude > 0x7f800000u) return {(unsigned short)(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu))};
  if (magnitude >= 0x477ff000u) return {(unsigned short)(sign | 0x7c00u)};  // 65520 and up
  if (magnitude < 0x38800000u) {
    // Subnormal results: adding 1/2 leaves multiples of 2^-24 in the low bits, rounded by the
    // addition.
    float shifted = formula::from_bits<float>(magnitude) + 0.5f;
    return {(unsigned short)(sign | (formula::to_bits(shifted) - 0x3f000000u))};
  }
  unsigned rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return {(unsigned short)(sign | (rounded - 0x38000000u) >> 13)};
}

FUSELET_FN bfloat16 to_bfloat16(float x) {
  unsigned bits = formula::to_bits(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {(unsigned short)(bits >> 16 | 0x40u)};
  return {(unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

}  // namespace fuselet
