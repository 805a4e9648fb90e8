// sin and cos.
//
// float: x is brought to [-pi/4, pi/4] in double and a float polynomial (tools/fit_formulas.py)
// does the rest, at most 2 ulp. Lanes of 2^27 and more are reduced one by one with as many bits of
// 2 / pi as they need, so every input is right. double: the library's function, lane by lane.
// Infinities give NaN.
#pragma once

#include "core/formulas/arithmetic.h"
#include "core/formulas/library.h"

namespace fuselet::formula {

// x = rest + quadrant * pi / 2; only the low two bits of the quadrant count.
template <class V>
struct QuarterTurns {
  V rest;
  Bits<V> quadrant;
};

// For double scalars and vectors, |x| < 2^27: pi / 2 in two doubles leaves an error of 2^-79, and
// no float comes closer than 2^-30 to a multiple of it.
template <class D>
FUSELET_FN QuarterTurns<D> remove_quarter_turns(D x) {
  constexpr double kShift = 0x1.8p52;  // leaves the nearest integer in the low bits
  D shifted = fma(x, splat<D>(0x1.45f306dc9c883p-1), splat<D>(kShift));
  D n = shifted - kShift;
  D rest = fma(n, splat<D>(-0x1.921fb54442d18p0), x);
  return {fma(n, splat<D>(-0x1.1a62633145c07p-54), rest), to_bits(shifted)};
}

FUSELET_FN QuarterTurns<float> remove_quarter_turns(float x) {
  QuarterTurns<double> r = remove_quarter_turns((double)x);
  return {(float)r.rest, (unsigned)r.quadrant};
}

#ifndef FUSELET_DEVICE_FORMULAS
// V: floats; D: as many bytes of doubles.
template <class D, class V>
FUSELET_FN QuarterTurns<V> remove_quarter_turns_by_halves(V x) {
  typedef float HalfFloats __attribute__((vector_size(sizeof(V) / 2)));
  typedef unsigned HalfBits __attribute__((vector_size(sizeof(V) / 2)));
  struct FloatHalves {
    HalfFloats low, high;
  };
  struct BitHalves {
    HalfBits low, high;
  };
  FloatHalves halves = __builtin_bit_cast(FloatHalves, x);
  QuarterTurns<D> low = remove_quarter_turns(__builtin_convertvector(halves.low, D));
  QuarterTurns<D> high = remove_quarter_turns(__builtin_convertvector(halves.high, D));
  FloatHalves rest{__builtin_convertvector(low.rest, HalfFloats), __builtin_convertvector(high.rest, HalfFloats)};
  BitHalves quadrant{__builtin_convertvector(low.quadrant, HalfBits), __builtin_convertvector(high.quadrant, HalfBits)};
  return {__builtin_bit_cast(V, rest), __builtin_bit_cast(Bits<V>, quadrant)};
}
FUSELET_FN QuarterTurns<float16v> remove_quarter_turns(float16v x) {
  return remove_quarter_turns_by_halves<double8v>(x);
}
FUSELET_FN QuarterTurns<float8v> remove_quarter_turns(float8v x) { return remove_quarter_turns_by_halves<double4v>(x); }
FUSELET_FN QuarterTurns<float4v> remove_quarter_turns(float4v x) { return remove_quarter_turns_by_halves<double2v>(x); }
#endif

// sin(rest + quadrant * pi / 2).
template <class V>
FUSELET_FN V sine_of(V r, Bits<V> quadrant) {
  V z = r * r;
  V sine = fma(r * z, polynomial(z, -0x1.555546p-3f, 0x1.11073ap-7f, -0x1.9943e2p-13f),
               r);                                                              // error 2^-26.8
  sine = with_sign_of(sine, r);                                                 // -0 lost it
  V cosine = polynomial(z, 0x1.55554ap-5f, -0x1.6c0c34p-10f, 0x1.99eb9ep-16f);  // error 2^-32
  cosine = fma(z * z, cosine, fma(z, splat<V>(-0.5f), splat<V>(1.0f)));
  V value = select((quadrant & 1u) != 0u, cosine, sine);
  return from_bits<V>(to_bits(value) ^ ((quadrant & 2u) << 30));
}

// The same of one float of 2^27 and more, by Payne and Hanek's reduction: the product of its 24 bits of significand and
// 96 bits of 2 / pi, those that give quarter turns from 2^1 down to 2^-94. The rest has a relative error below 2^-41.
FUSELET_FN QuarterTurns<float> remove_many_quarter_turns(float x) {
  const unsigned bits = to_bits(abs(x)), significand = (bits & 0x7fffffu) | 0x800000u;
  const unsigned skipped = (bits >> 23) - 152;  // bits of 2 / pi whose products are whole turns
  unsigned a = 0xa2f9836eu, b = 0x4e441529u, c = 0xfc2757d1u, d = 0xf534ddc0u;
  if (skipped & 64) a = c, b = d, c = 0xdb629599u, d = 0x3c439041u;
  if (skipped & 32) a = b, b = c, c = d, d = skipped & 64 ? 0xfe5163abu : 0xdb629599u;
  const unsigned shift = skipped & 31;
  auto window = [shift](unsigned high, unsigned low) {
    return (unsigned)((((unsigned long long)high << 32 | low) << shift) >> 32);
  };
  unsigned long long product = (unsigned long long)significand * window(c, d);
  product = (product >> 32) + (unsigned long long)significand * window(b, c);
  product += (unsigned long long)(significand * window(a, b)) << 32;  // turns, the first two bits quarters of one
  const unsigned quadrant = (unsigned)((product + (1ull << 61)) >> 62);
  const double rest = (double)(long long)(product - ((unsigned long long)quadrant << 62)) * 0x1.921fb54442d18p-62;
  const bool negative = x < 0.0f, finite = bits < 0x7f800000u;
  return {finite ? (float)(negative ? -rest : rest) : x - x, negative ? 0u - quadrant : quadrant};
}

// sin(x + quarter * pi / 2) of a float of 2^27 or more, an infinity or NaN.
FUSELET_RARE_FN float far_sine(float x, unsigned quarter) {
  const QuarterTurns<float> turns = remove_many_quarter_turns(x);
  return sine_of(turns.rest, turns.quadrant + quarter);
}

// sin(x + quarter * pi / 2) of floats.
template <class V>
FUSELET_FN V shifted_sine(V x, unsigned quarter) {
  QuarterTurns<V> turns = remove_quarter_turns(x);
  V result = sine_of(turns.rest, turns.quadrant + quarter);
  if (!in_every_lane<V>(abs(x) < 0x1p27f)) {
    auto lane = [quarter](float input, float reduced) {
      return abs(input) < 0x1p27f ? reduced : far_sine(input, quarter);
    };
    result = map_lanes(lane, x, result);
  }
  return result;
}

template <class V>
FUSELET_FN V sin(V x) {
  if constexpr (kIsFloat<V>)
    return shifted_sine(x, 0);
  else
    return map_lanes([](double lane) { return library_sin(lane); }, x);
}

template <class V>
FUSELET_FN V cos(V x) {
  if constexpr (kIsFloat<V>)
    return shifted_sine(x, 1);
  else
    return map_lanes([](double lane) { return library_cos(lane); }, x);
}

}  // namespace fuselet::formula
