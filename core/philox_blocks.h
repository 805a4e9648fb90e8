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

// The words of kWordLanes blocks from `index` on, in order: 4 * kWordLanes words.
inline void fill_lanes_of_blocks(unsigned long seed, unsigned long draw, unsigned long index, unsigned* to) {
  WordLanes lane{};
  for (int i = 0; i < kWordLanes; ++i) lane[i] = i;
  WordLanes low = lane + (unsigned)(index);
  WordLanes carry = (WordLanes)(low < lane);  // all ones, that is -1, where the low half has wrapped
  WordLanes high = (unsigned)(index >> 32) - carry;
  Words<WordLanes> counter{{low, high, WordLanes{} + (unsigned)(draw), WordLanes{} + (unsigned)(draw >> 32)}};
  Words<WordLanes> r = philox4x32_10(counter, (unsigned)(seed), (unsigned)(seed >> 32));
  constexpr int half = kWordLanes / 2;
  for (int part = 0; part < 2; ++part) {
    WordLanes even = interleave(r.word[0], r.word[2], part * half), odd = interleave(r.word[1], r.word[3], part * half);
    WordLanes ordered[2] = {interleave(even, odd, 0), interleave(even, odd, half)};
    __builtin_memcpy(to + part * 2 * kWordLanes, ordered, sizeof ordered);
  }
}

// to[k] = random_word(seed, draw, first + k), k < count.
inline void fill_words(unsigned long seed, unsigned long draw, unsigned long first, unsigned long count, unsigned* to) {
  constexpr unsigned long step = 4 * kWordLanes;
  unsigned buffer[step];
  while (count > 0) {
    unsigned long skipped = first % 4, taken = step - skipped;
    if (skipped == 0 && count >= step) {
      fill_lanes_of_blocks(seed, draw, first / 4, to);
    } else {
      if (taken > count) taken = count;
      fill_lanes_of_blocks(seed, draw, first / 4, buffer);
      __builtin_memcpy(to, buffer + skipped, taken * sizeof(unsigned));
    }
    first += taken;
    to += taken;
    count -= taken;
  }
}

// to[k] = random_halfword(seed, draw, first + k), k < count. On a little endian machine the
// halfwords of the words in order are the halfwords in order.
inline void fill_halfwords(unsigned long seed, unsigned long draw, unsigned long first, unsigned long count,
                           unsigned short* to) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  constexpr unsigned long step = 8 * kWordLanes;
  unsigned buffer[step / 2];
  while (count > 0) {
    unsigned long skipped = first % 8, taken = step - skipped;
    if (taken > count) taken = count;
    fill_lanes_of_blocks(seed, draw, first / 8, buffer);
    __builtin_memcpy(to, reinterpret_cast<const char*>(buffer) + 2 * skipped, 2 * taken);
    first += taken;
    to += taken;
    count -= taken;
  }
}

}  // namespace fuselet::philox
