// The random values of V neighbouring elements of a draw: those of core/random_values.h. Generated units paste it.
// `step`: how far apart their element numbers are. kAligned: `first` is a multiple of V.
#pragma once

#include "backends/cuda/codegen/prelude/values.h"
#include "core/random_values.h"

namespace fuselet::device {

struct Draw {
  unsigned long seed, number;
};

template <bool kAligned, class H, int V>
FUSELET_FN void uniform_pack(Draw draw, long first, long step, H (&to)[V]) {
  if (V % 4 == 0 && step == 1 && (kAligned || first % 4 == 0)) {
#pragma unroll
    for (int b = 0; b < V / 4; ++b) {
      const philox::Words<unsigned> block = philox::random_block(draw.seed, draw.number, first / 4 + b);
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        if constexpr (kSame<H, double>)
          to[4 * b + w] = philox::uniform_double(block.word[w]);
        else
          to[4 * b + w] = philox::uniform_float<float>(block.word[w]);
      }
    }
    return;
  }
#pragma unroll
  for (int v = 0; v < V; ++v) {
    const unsigned word = philox::random_word(draw.seed, draw.number, first + v * step);
    if constexpr (kSame<H, double>)
      to[v] = philox::uniform_double(word);
    else
      to[v] = philox::uniform_float<float>(word);
  }
}

template <class H>
FUSELET_FN H normal_one(Draw draw, unsigned long element) {
  if constexpr (kSame<H, double>) {
    const philox::Words<unsigned> block = philox::random_block(draw.seed, draw.number, element / 4);
    const bool second = element % 4 >= 2;
    const philox::NormalPair<double> pair =
        philox::normal_pair_double(second ? block.word[2] : block.word[0], second ? block.word[3] : block.word[1]);
    return element % 2 == 0 ? pair.even : pair.odd;
  } else {
    return philox::normal_float(draw.seed, draw.number, element);
  }
}
template <bool kAligned, class H, int V>
FUSELET_FN void normal_pack(Draw draw, long first, long step, H (&to)[V]) {
  if (V % 4 == 0 && step == 1 && (kAligned || first % 4 == 0)) {
#pragma unroll
    for (int b = 0; b < V / 4; ++b) {
      const philox::Words<unsigned> block = philox::random_block(draw.seed, draw.number, first / 4 + b);
#pragma unroll
      for (int w = 0; w < 4; w += 2) {
        if constexpr (kSame<H, double>) {
          const philox::NormalPair<double> pair = philox::normal_pair_double(block.word[w], block.word[w + 1]);
          to[4 * b + w] = pair.even, to[4 * b + w + 1] = pair.odd;
        } else {
          const philox::NormalPair<float> pair = philox::normal_pair<float>(block.word[w], block.word[w + 1]);
          to[4 * b + w] = pair.even, to[4 * b + w + 1] = pair.odd;
        }
      }
    }
    return;
  }
#pragma unroll
  for (int v = 0; v < V; ++v) to[v] = normal_one<H>(draw, first + v * step);
}

// True iff kept: halfword < threshold.
template <bool kAligned, int V>
FUSELET_FN void kept_pack(Draw draw, long first, long step, unsigned threshold, bool (&to)[V]) {
  if (V % 4 == 0 && V <= 8 && step == 1 && (kAligned || first % V == 0)) {
    const philox::Words<unsigned> block = philox::random_block(draw.seed, draw.number, first / 8);
#pragma unroll
    for (int v = 0; v < V; v += 2) {
      const unsigned word = V == 8           ? block.word[v / 2 % 4]
                            : first % 8 == 0 ? block.word[v / 2 % 4]
                                             : block.word[(v / 2 + 2) % 4];
      to[v] = (word & 0xffffu) < threshold;
      to[v + 1] = word >> 16 < threshold;
    }
    return;
  }
#pragma unroll
  for (int v = 0; v < V; ++v) {
    const unsigned long element = first + v * step;
    const philox::Words<unsigned> block = philox::random_block(draw.seed, draw.number, element / 8);
    const unsigned word = element % 8 < 2   ? block.word[0]
                          : element % 8 < 4 ? block.word[1]
                          : element % 8 < 6 ? block.word[2]
                                            : block.word[3];
    to[v] = (word >> (element % 2 * 16) & 0xffffu) < threshold;
  }
}

}  // namespace fuselet::device
