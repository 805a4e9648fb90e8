// Fills arrays with the random words of consecutive elements of a draw, many blocks at a time. Host
// only; includes no standard header, for generated C++ units paste it.
//
// Bit for bit what philox.h gives element by element. Any first element and count: threads may
// split a draw anywhere.
#pragma once

#include "core/philox.h"

namespace fuselet::philox {

using WordLanes = formula::Bits<formula::FloatLanes>;
inline constexpr int kWordLanes = formula::kLanes<formula::FloatLanes>;

// Lanes of x and y in turn, beginning with lane `begin`.
FUSELET_FN WordLanes interleave(WordLanes x, WordLanes y, int begin) {
#ifndef __clang__
  WordLanes from{};
  for (int i = 0; i < kWordLanes; ++i) from[i] = begin + i / 2 + i % 2 * kWordLanes;
  return __builtin_shuffle(x, y, from);
#else
  WordLanes result{};
  for (int i = 0; i < kWordLanes; ++i) result[i] = i % 2 == 0 ? x[begin + i / 2] : y[begin + i / 2];
  return result;
#endif
}

// The words of N * kWordLanes blocks from `index` on, in order: 4 * N * kWordLanes words.
template <int N>
FUSELET_FN void fill_lanes_of_blocks(unsigned long seed, unsigned long draw, unsigned long index, unsigned* to) {
  WordLanes lane{};
  for (int i = 0; i < kWordLanes; ++i) lane[i] = i;
  Words<WordLanes> r[N];
  for (int n = 0; n < N; ++n) {
    const unsigned long first = index + n * kWordLanes;
    WordLanes low = lane + (unsigned)(first);
    WordLanes carry = (WordLanes)(low < lane);  // all ones, that is -1, where the low half has wrapped
    WordLanes high = (unsigned)(first >> 32) - carry;
    r[n] = {{low, high, WordLanes{} + (unsigned)(draw), WordLanes{} + (unsigned)(draw >> 32)}};
  }
  philox4x32_10(r, (unsigned)(seed), (unsigned)(seed >> 32));
  constexpr int half = kWordLanes / 2;
  for (int n = 0; n < N; ++n) {
    for (int part = 0; part < 2; ++part) {
      const WordLanes* w = r[n].word;
      WordLanes even = interleave(w[0], w[2], part * half), odd = interleave(w[1], w[3], part * half);
      WordLanes ordered[2] = {interleave(even, odd, 0), interleave(even, odd, half)};
      __builtin_memcpy(to + (4 * n + 2 * part) * kWordLanes, ordered, sizeof ordered);
    }
  }
}

// Vectors of blocks in lockstep, where there are as many to fill.
inline constexpr int kVectorsAtOnce = 2;

// to[k] = random_word(seed, draw, first + k), k < count, or the 16 bits of element first + k: T is unsigned or unsigned
// short. On a little endian machine the halfwords of the words in order are the halfwords in order.
template <class T>
inline void fill_elements(unsigned long seed, unsigned long draw, unsigned long first, unsigned long count, T* to) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  constexpr unsigned long a_block = 16 / sizeof(T), step = a_block * kWordLanes;
  alignas(64) unsigned buffer[kVectorsAtOnce * 4 * kWordLanes];
  while (count > 0) {
    const unsigned long skipped = first % a_block, many = kVectorsAtOnce * step - skipped;
    unsigned long taken = step - skipped;
    if (count >= many) {
      fill_lanes_of_blocks<kVectorsAtOnce>(seed, draw, first / a_block, buffer);
      taken = many;
    } else {
      fill_lanes_of_blocks<1>(seed, draw, first / a_block, buffer);
      if (taken > count) taken = count;
    }
    __builtin_memcpy(to, reinterpret_cast<const char*>(buffer) + sizeof(T) * skipped, sizeof(T) * taken);
    first += taken;
    to += taken;
    count -= taken;
  }
}
inline void fill_words(unsigned long seed, unsigned long draw, unsigned long first, unsigned long count, unsigned* to) {
  fill_elements(seed, draw, first, count, to);
}
inline void fill_halfwords(unsigned long seed, unsigned long draw, unsigned long first, unsigned long count,
                           unsigned short* to) {
  fill_elements(seed, draw, first, count, to);
}

}  // namespace fuselet::philox
