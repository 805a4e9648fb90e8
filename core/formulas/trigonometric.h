// sin and cos.
//
// float: x is brought to [-pi/4, pi/4] in double and a float polynomial (tools/fit_formulas.py) does the rest, at most
// 1.5 ulp. Lanes of 2^27 and more go one by one through the library's double function, so every input is right.
// double: the library's function, lane by lane. Infinities give NaN.
#pragma once

#include "arithmetic.h"

namespace fuselet::formula {

// x = rest + quadrant * pi / 2; only the low two bits of the quadrant count.
template <class V>
struct QuarterTurns {
  V rest;
  Bits<V> quadrant;
};

// For double scalars and vectors, |x| < 2^27: pi / 2 in two doubles leaves an error of 2^-79, and no float comes closer
// than 2^-30 to a multiple of it.
template <class D>
FUSELET_FN QuarterTurns<D> remove_quarter_turns(D x) {
  constexpr double kShift = 0x1.8p52;  // leaves the nearest integer in the low bits
  D shifted = fma(x, splat<D>(0x1.45f306dc9c883p-1), splat<D>(kShift));
  D n = shifted - kShift;
  D rest = fma(n, splat<D>(-0x1.921fb54442d18p0), x);
  return {fma(n, splat<D>(-0x1.1a62633145c07p-54), rest), to_bits(shifted)};
}

FUSELET_FN QuarterTurns<float> reduce(float x) {
  QuarterTurns<double> r = remove_quarter_turns((double)x);
  return {(float)r.rest, (unsigned)r.quadrant};
}

#ifndef FUSELET_DEVICE_FORMULAS
FUSELET_FN QuarterTurns<float16v> reduce(float16v x) {
  typedef float Floats8 __attribute__((vector_size(32)));
  typedef unsigned Bits8 __attribute__((vector_size(32)));
  struct FloatHalves {
    Floats8 low, high;
  };
  struct BitHalves {
    Bits8 low, high;
  };
  FloatHalves halves = __builtin_bit_cast(FloatHalves, x);
  QuarterTurns<double8v> low = remove_quarter_turns(__builtin_convertvector(halves.low, double8v));
  QuarterTurns<double8v> high = remove_quarter_turns(__builtin_convertvector(halves.high, double8v));
  FloatHalves rest{__builtin_convertvector(low.rest, Floats8), __builtin_convertvector(high.rest, Floats8)};
  BitHalves quadrant{__builtin_convertvector(low.quadrant, Bits8), __builtin_convertvector(high.quadrant, Bits8)};
  return {__builtin_bit_cast(float16v, rest), __builtin_bit_cast(uint32_16v, quadrant)};
}
#endif

// sin of rest + quadrant * pi / 2.
template <class V>
FUSELET_FN V sine_of(V r, Bits<V> quadrant) {
  V z = r * r;
  V sine = fma(r * z, polynomial(z, -0x1.555546p-3f, 0x1.11073ap-7f, -0x1.9943e2p-13f), r);       // error 2^-26.8
  V cosine = polynomial(z, 0x1.55554ap-5f, -0x1.6c0c34p-10f, 0x1.99eb9ep-16f);                    // error 2^-32
  cosine = fma(z * z, cosine, fma(z, splat<V>(-0.5f), splat<V>(1.0f)));
  V value = select((quadrant & 1u) != 0u, cosine, sine);
  return from_bits<V>(to_bits(value) ^ ((quadrant & 2u) << 30));
}

inline constexpr float kReducibleLimit = 0x1p27f;

template <class V>
FUSELET_FN bool is_reducible(V x) {
  if constexpr (kIsVector<V>) {
    auto large = abs(x) >= kReducibleLimit;
    bool any = false;
    for (int i = 0; i < kLanes<V>; ++i) any |= large[i] != 0;
    return !any;
  } else {
    return abs(x) < kReducibleLimit || x != x;
  }
}

template <class V>
FUSELET_FN V sin(V x) {
#ifdef FUSELET_DEVICE_FORMULAS
  if constexpr (kIsDouble<V>) return ::sin(x);
  else if (!is_reducible(x)) return (V)::sin((double)x);
#else
  if constexpr (kIsDouble<V>) return map_lanes([](double lane) { return __builtin_sin(lane); }, x);
#endif
  else {
    QuarterTurns<V> turns = reduce(x);
    V result = sine_of(turns.rest, turns.quadrant);
#ifndef FUSELET_DEVICE_FORMULAS
    if (!is_reducible(x)) {
      auto lane_sin = [](float lane, float reduced) {
        return is_reducible(lane) ? reduced : (float)__builtin_sin((double)lane);
      };
      result = map_lanes(lane_sin, x, result);
    }
#endif
    return result;
  }
}

template <class V>
FUSELET_FN V cos(V x) {
#ifdef FUSELET_DEVICE_FORMULAS
  if constexpr (kIsDouble<V>) return ::cos(x);
  else if (!is_reducible(x)) return (V)::cos((double)x);
#else
  if constexpr (kIsDouble<V>) return map_lanes([](double lane) { return __builtin_cos(lane); }, x);
#endif
  else {
    QuarterTurns<V> turns = reduce(x);
    V result = sine_of(turns.rest, turns.quadrant + 1u);
#ifndef FUSELET_DEVICE_FORMULAS
    if (!is_reducible(x)) {
      auto lane_cos = [](float lane, float reduced) {
        return is_reducible(lane) ? reduced : (float)__builtin_cos((double)lane);
      };
      result = map_lanes(lane_cos, x, result);
    }
#endif
    return result;
  }
}

}  // namespace fuselet::formula
