// Philox4x32-10 random numbers (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011).
//
// A block of four 32-bit words is a function of the seed (64 bits, the key), the draw number (one
// for each random operator, in program order) and the block index: counter words 0, 1 = low, high
// half of the index; 2, 3 = low, high half of the draw number. Element i is the row-major index in
// the operator's output:
//   uniform, normal   block i / 4, word i % 4
//   Bernoulli mask    block i / 8, halfword i % 8: halfword h is the low (h even) or high (h odd)
//   half of word h / 2
// W is `unsigned`, or a vector of unsigned whose lanes are independent counters and get the
// scalar's bits. Includes no standard header; NVRTC compiles it with scalars. philox_blocks.h fills
// arrays.
#pragma once

#include "core/formulas.h"

namespace fuselet::philox {

template <class W>
struct Words {
  W word[4];
};

template <class W>
struct Product {
  W high, low;
};

FUSELET_FN Product<unsigned> multiply(unsigned x, unsigned factor) {
  unsigned long long product = (unsigned long long)x * factor;
  return {(unsigned)(product >> 32), (unsigned)product};
}

#ifndef FUSELET_DEVICE_FORMULAS
#if defined(__AVX512F__) && !defined(__clang__)
using Wide = formula::Bits<formula::double8v>;
FUSELET_FN Wide multiply_even(formula::Bits<formula::float16v> x, formula::Bits<formula::float16v> y) {
  typedef int Ints __attribute__((vector_size(64)));
  typedef long long Longs __attribute__((vector_size(64)));
  return (Wide)__builtin_ia32_pmuludq512_mask((Ints)x, (Ints)y, Longs{}, -1);
}
#elif defined(__AVX2__) && !defined(__clang__)
using Wide = formula::Bits<formula::double4v>;
FUSELET_FN Wide multiply_even(formula::Bits<formula::float8v> x, formula::Bits<formula::float8v> y) {
  typedef int Ints __attribute__((vector_size(32)));
  return (Wide)__builtin_ia32_pmuludq256((Ints)x, (Ints)y);
}
#else
using Wide = formula::Bits<formula::DoubleLanes>;
FUSELET_FN Wide multiply_even(formula::Bits<formula::FloatLanes> x, formula::Bits<formula::FloatLanes> y) {
  return ((Wide)x & 0xffffffffull) * ((Wide)y & 0xffffffffull);
}
#endif

// Products of the even lanes, then of the odd ones, put together again (little endian).
FUSELET_FN Product<formula::Bits<formula::FloatLanes>> multiply(formula::Bits<formula::FloatLanes> x, unsigned factor) {
  using W = formula::Bits<formula::FloatLanes>;
  W factors = W{} + factor;
  Wide even = multiply_even(x, factors), odd = multiply_even((W)((Wide)x >> 32), factors);
  constexpr unsigned long kHigh = 0xffffffff00000000ul;
  return {(W)(even >> 32 | (odd & kHigh)), (W)((even & ~kHigh) | odd << 32)};
}
#endif

// The rounds of `N` counters in lockstep: one alone waits for its own multiplications.
template <int N, class W>
FUSELET_FN void philox4x32_10(Words<W> (&counters)[N], unsigned key0, unsigned key1) {
  for (int round = 0; round < 10; ++round) {
    for (int n = 0; n < N; ++n) {
      W(&w)[4] = counters[n].word;
      Product<W> p = multiply(w[0], 0xd2511f53u), q = multiply(w[2], 0xcd9e8d57u);
      w[0] = q.high ^ w[1] ^ key0;
      w[1] = q.low;
      w[2] = p.high ^ w[3] ^ key1;
      w[3] = p.low;
    }
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
}

template <class W>
FUSELET_FN Words<W> philox4x32_10(Words<W> counter, unsigned key0, unsigned key1) {
  Words<W> one[1] = {counter};
  philox4x32_10(one, key0, key1);
  return one[0];
}

FUSELET_FN Words<unsigned> random_block(unsigned long long seed, unsigned long long draw, unsigned long long index) {
  Words<unsigned> counter{{(unsigned)index, (unsigned)(index >> 32), (unsigned)draw, (unsigned)(draw >> 32)}};
  return philox4x32_10(counter, (unsigned)seed, (unsigned)(seed >> 32));
}

// The word of element i of a draw (uniforms and normals).
FUSELET_FN unsigned random_word(unsigned long long seed, unsigned long long draw, unsigned long long i) {
  return random_block(seed, draw, i / 4).word[i % 4];
}

// The 16 bits of element i of a draw (Bernoulli masks).
FUSELET_FN unsigned random_halfword(unsigned long long seed, unsigned long long draw, unsigned long long i) {
  return random_block(seed, draw, i / 8).word[i % 8 / 2] >> (i % 2 * 16) & 0xffffu;
}

}  // namespace fuselet::philox
