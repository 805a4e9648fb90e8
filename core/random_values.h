// From random words to values. The words of element i are philox.h's; W and V are a scalar or
// vectors of as many lanes.
//
//   uniform float    top 24 bits * 2^-24, in [0, 1)
//   uniform double   all 32 bits * 2^-32, in [0, 1)
//   Bernoulli        keep iff halfword < threshold, threshold = round((1 - p) * 65536); kept values
//   are divided by
//                    the quantised probability threshold / 65536, so the mean is exactly kept
//   normal           Box-Muller inside a block: words 0, 1 give elements 0, 1, words 2, 3 give
//   elements 2, 3. With
//                    u = (first + 1/2) * 2^-32 and the angle second * 2^-32 turns, the even element
//                    is sqrt(-2 log u) * cos, the odd one the same * sin. |normal| is below 6.8.
#pragma once

#include "core/philox.h"

namespace fuselet::philox {

FUSELET_FN float to_floats(int x) { return (float)x; }
#ifndef FUSELET_DEVICE_FORMULAS
FUSELET_FN formula::FloatLanes to_floats(formula::Ints<formula::FloatLanes> x) {
  return __builtin_convertvector(x, formula::FloatLanes);
}
#endif

template <class V>
FUSELET_FN V uniform_float(formula::Bits<V> word) {
  return to_floats((formula::Ints<V>)(word >> 8)) * 0x1p-24f;
}

FUSELET_FN double uniform_double(unsigned word) { return word * 0x1p-32; }

// p: the probability to drop, in [0, 1]. 65536 keeps all.
FUSELET_FN unsigned keep_threshold(double p) { return (unsigned)formula::round((1.0 - p) * 65536.0); }

// What kept values are multiplied by; 0 where nothing is kept.
FUSELET_FN double keep_scale(unsigned threshold) { return threshold == 0 ? 0.0 : 65536.0 / threshold; }

template <class V>
struct NormalPair {
  V even, odd;
};

template <class V>
FUSELET_FN NormalPair<V> normal_pair(formula::Bits<V> first, formula::Bits<V> second) {
  // In two exact halves: a conversion of 32 unsigned bits is not one instruction everywhere.
  V high = to_floats((formula::Ints<V>)(first >> 16)), low = to_floats((formula::Ints<V>)(first & 0xffffu));
  V u = formula::fma(high, formula::splat<V>(0x1p-16f),
                     formula::fma(low, formula::splat<V>(0x1p-32f), formula::splat<V>(0x1p-33f)));
  V radius = formula::sqrt(-2.0f * formula::log(u));
  // The nearest quarter turn, and what is left of the angle: exact up to here.
  formula::Bits<V> quadrant = (second + 0x20000000u) >> 30;
  V rest = to_floats((formula::Ints<V>)(second - (quadrant << 30))) * 0x1.921fb6p-30f;
  return {radius * formula::sine_of(rest, quadrant + 1u), radius * formula::sine_of(rest, quadrant)};
}

// double: the same pair of words, in double.
FUSELET_FN NormalPair<double> normal_pair_double(unsigned first, unsigned second) {
  double radius = formula::sqrt(-2.0 * formula::log((first + 0.5) * 0x1p-32));
  double angle = second * (0x1.921fb54442d18p2 * 0x1p-32);
  return {radius * formula::cos(angle), radius * formula::sin(angle)};
}

// Element i of a draw, alone: for kernels that compute one element a thread.
FUSELET_FN float normal_float(unsigned long long seed, unsigned long long draw, unsigned long long i) {
  Words<unsigned> block = random_block(seed, draw, i / 4);
  NormalPair<float> pair = normal_pair<float>(block.word[i % 4 & 2], block.word[(i % 4 & 2) + 1]);
  return i % 2 == 0 ? pair.even : pair.odd;
}

}  // namespace fuselet::philox
