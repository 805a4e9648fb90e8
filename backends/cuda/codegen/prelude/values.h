// Elements as kernels hold them, and conversions between held values: the rules of core/convert.h for one CUDA thread.
// Generated units paste it.
//
// Held: float for float32 and the 16-bit floats, double, long for all integers, bool.
#pragma once

#include "core/casts.h"
#include "core/formulas/arithmetic.h"
#include "core/half.h"

namespace fuselet::device {

using formula::kSame;

template <class T>
struct HeldOf {
  using Type = long;
};
template <>
struct HeldOf<float> {
  using Type = float;
};
template <>
struct HeldOf<float16> {
  using Type = float;
};
template <>
struct HeldOf<bfloat16> {
  using Type = float;
};
template <>
struct HeldOf<double> {
  using Type = double;
};
template <>
struct HeldOf<bool> {
  using Type = bool;
};
template <class T>
using Held = typename HeldOf<T>::Type;

// One instruction each on the device; the bits are those of core/half.h.
FUSELET_FN float widen(float16 x) {
#ifdef FUSELET_SIM
  return to_float(x);
#else
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits));
  return result;
#endif
}
FUSELET_FN float widen(bfloat16 x) {
#ifdef FUSELET_SIM
  return to_float(x);
#else
  // Half of a register to the upper half of another: of a shift and a mask the compiler makes two instructions.
  float result;
  asm("mov.b32 %0, {%1, %2};" : "=f"(result) : "h"((unsigned short)0), "h"(x.bits));
  return result;
#endif
}
FUSELET_FN float16 narrow_to_float16(float x) {
#ifdef FUSELET_SIM
  return to_float16(x);
#else
  float16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
#endif
}
// x rounded to a bfloat16, as a float: the instruction that converts a pair, the other of which is 0.
FUSELET_FN float rounded_to_bfloat16(float x) {
#ifdef FUSELET_SIM
  return to_float(to_bfloat16(x));
#else
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(x), "f"(0.0f));
  return formula::from_bits<float>(pair);
#endif
}

template <class T>
FUSELET_FN Held<T> held(T x) {
  if constexpr (kSame<T, float16> || kSame<T, bfloat16>)
    return widen(x);
  else
    return x;
}

// A held value as an element of T that holds it exactly: one that `convert` has rounded.
template <class T, class H>
FUSELET_FN T stored(H x) {
  if constexpr (kSame<T, float16>)
    return narrow_to_float16(x);
  else if constexpr (kSame<T, bfloat16>)
    return bfloat16{(unsigned short)(formula::to_bits(x) >> 16)};
  else
    return (T)x;
}

// x converted to T, rounding once, as held.
template <class T, class H>
FUSELET_FN Held<T> convert(H x) {
  if constexpr (kSame<T, float16> || kSame<T, bfloat16>) {
    if constexpr (kSame<H, float> && kSame<T, bfloat16>) {
      return rounded_to_bfloat16(x);
    } else if constexpr (kSame<H, float>) {
      return widen(narrow_to_float16(x));
    } else if constexpr (kSame<H, bool>) {
      return x ? 1.0f : 0.0f;
    } else if constexpr (kSame<H, long>) {
      return convert<T>(to_odd_double(x));
    } else {
      if constexpr (kSame<T, float16>)
        return widen(to_float16(x));
      else
        return widen(to_bfloat16(x));
    }
  } else if constexpr (kSame<T, bool>) {
    return x != H(0);
  } else if constexpr (kSame<T, float> || kSame<T, double>) {
    return (T)x;
  } else if constexpr (kSame<H, float> || kSame<H, double>) {
    return cast_to_integer<T>(x);
  } else {
    return (long)(T)x;
  }
}

}  // namespace fuselet::device
