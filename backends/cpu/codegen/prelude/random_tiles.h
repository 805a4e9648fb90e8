// Random values of consecutive elements, for a vector loop to read: those of core/random_values.h. Generated units
// paste it. `stride` apart in the draw's element numbers.
#pragma once

#include "backends/cpu/codegen/prelude/lanes.h"
#include "backends/cpu/codegen/prelude/launch.h"
#include "core/philox_blocks.h"
#include "core/random_integers.h"
#include "core/random_values.h"

namespace fuselet::generated {

// Elements of a tile at most; a tile may begin at an odd element of a pair and end within one.
inline constexpr long kTile = 2048;

// T: the stored type that the values are rounded to.
template <class T>
inline constexpr unsigned kUniformMask = kSame<T, float16>    ? philox::kUniformMaskFloat16
                                         : kSame<T, bfloat16> ? philox::kUniformMaskBFloat16
                                                              : ~0u;

template <class T>
FUSELET_FN Held<T> uniform_one(Draw draw, unsigned long element) {
  unsigned word = philox::random_word(draw.seed, draw.draw, element);
  if constexpr (kSame<T, double>)
    return philox::uniform_double(word);
  else
    return philox::uniform_float<float>(word & kUniformMask<T>);
}
template <class T>
FUSELET_FN Held<T> normal_one(Draw draw, unsigned long element) {
  if constexpr (kSame<T, double>) {
    philox::Words<unsigned> block = philox::random_block(draw.seed, draw.draw, element / 4);
    philox::NormalPair<double> pair =
        philox::normal_pair_double(block.word[element % 4 & 2], block.word[(element % 4 & 2) + 1]);
    return element % 2 == 0 ? pair.even : pair.odd;
  } else {
    return convert_one<T>(philox::normal_float(draw.seed, draw.draw, element));
  }
}
FUSELET_FN bool kept_one(Draw draw, unsigned long element, unsigned threshold) {
  return philox::random_halfword(draw.seed, draw.draw, element) < threshold;
}

template <class T>
inline void fill_uniform(Draw draw, long first, long count, long stride, Held<T>* to) {
  if (stride != 1) {
    for (long i = 0; i < count; ++i) to[i] = uniform_one<T>(draw, first + i * stride);
    return;
  }
  alignas(64) unsigned words[kTile];
  philox::fill_words(draw.seed, draw.draw, first, count, words);
  for (long i = 0; i < count; ++i) {
    if constexpr (kSame<T, double>)
      to[i] = philox::uniform_double(words[i]);
    else
      to[i] = philox::uniform_float<float>(words[i] & kUniformMask<T>);
  }
}

template <class T>
inline void fill_normal(Draw draw, long first, long count, long stride, Held<T>* to) {
  if (stride != 1) {
    for (long i = 0; i < count; ++i) to[i] = normal_one<T>(draw, first + i * stride);
    return;
  }
  alignas(64) unsigned words[kTile + 2];
  const long odd = first % 2, pairs = (odd + count + 1) / 2;
  philox::fill_words(draw.seed, draw.draw, first - odd, 2 * pairs, words);
  if constexpr (kSame<T, double>) {
    for (long i = 0; i < pairs; ++i) {
      philox::NormalPair<double> pair = philox::normal_pair_double(words[2 * i], words[2 * i + 1]);
      if (2 * i - odd >= 0) to[2 * i - odd] = pair.even;
      if (2 * i + 1 - odd < count) to[2 * i + 1 - odd] = pair.odd;
    }
  } else {
    using V = formula::FloatLanes;
    constexpr int kLanes = formula::kLanes<V>;
    for (long at = 0; at < pairs; at += kLanes) {
      formula::Bits<V> even{}, odd_words{};
      for (int i = 0; i < kLanes && at + i < pairs; ++i) {
        even[i] = words[2 * (at + i)];
        odd_words[i] = words[2 * (at + i) + 1];
      }
      philox::NormalPair<V> pair = philox::normal_pair<V>(even, odd_words);
      for (int i = 0; i < kLanes && at + i < pairs; ++i) {
        long k = 2 * (at + i) - odd;
        if (k >= 0) to[k] = convert_one<T>((float)pair.even[i]);
        if (k + 1 < count) to[k + 1] = convert_one<T>((float)pair.odd[i]);
      }
    }
  }
}

template <int W>
FUSELET_FN Truths<W> load_kept(const signed char* from) {
  Lanes<signed char, W> raw;
  __builtin_memcpy(&raw, from, sizeof raw);
  return __builtin_convertvector(as_one_load(raw), Truths<W>);
}
// Truth values as lanes have them, 0 or -1, in a byte each.
inline void fill_kept(Draw draw, long first, long count, long stride, unsigned threshold, signed char* to) {
  if (stride != 1) {
    for (long i = 0; i < count; ++i) to[i] = -(int)kept_one(draw, first + i * stride, threshold);
    return;
  }
  alignas(64) unsigned short words[kTile];
  philox::fill_halfwords(draw.seed, draw.draw, first, count, words);
  constexpr int kLanes = formula::kVectorBytes / 2;
  long i = 0;
  for (; threshold > 0 && i + kLanes <= count; i += kLanes) {
    Lanes<unsigned short, kLanes> w;
    __builtin_memcpy(&w, words + i, sizeof w);
    const auto kept = __builtin_convertvector(w <= (unsigned short)(threshold - 1), Lanes<signed char, kLanes>);
    __builtin_memcpy(to + i, &kept, sizeof kept);
  }
  for (; i < count; ++i) to[i] = -(int)(words[i] < threshold);
}

}  // namespace fuselet::generated
