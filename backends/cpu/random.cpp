// rand, randn, randint: element i of the row-major result is a function of the draw and of i alone.
#include <algorithm>

#include "backends/cpu/block_run.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "core/generator.h"
#include "core/philox_blocks.h"
#include "core/random_integers.h"
#include "core/random_values.h"

namespace fuselet::cpu {
namespace {

// fill(first element, count, block) in blocks whose first element is a multiple of kBlock apart from the range's begin,
// which is a multiple of 64: whole Philox blocks and pairs of normals.
template <class T, class F>
void fill_blocks(const TensorImpl& out, F&& fill) {
  const StoreBlock store = store_block(kComputeType<T>, out.dtype());
  const int64_t element = static_cast<int64_t>(size_of(out.dtype()));
  parallel_for(out.numel().word(), kPointwiseGrain, [&](int64_t begin, int64_t end) {
    alignas(64) T block[kBlock];
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      fill(static_cast<uint64_t>(at), n, block);
      store(block, static_cast<std::byte*>(out.data()) + at * element, 1, n);
    }
  });
}

uint32_t uniform_mask(DType t) {
  return t == DType::Float16 ? philox::kUniformMaskFloat16 : t == DType::BFloat16 ? philox::kUniformMaskBFloat16 : ~0u;
}

}  // namespace

void rand(const Call& call) {
  const TensorImpl& out = *call.outs[0].impl();
  const GeneratorState draw = take_draw();
  const uint32_t mask = uniform_mask(out.dtype());
  with_float_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    fill_blocks<T>(out, [&](uint64_t first, int64_t n, T* block) {
      alignas(64) uint32_t words[kBlock];
      philox::fill_words(draw.seed, draw.draws, first, static_cast<uint64_t>(n), words);
      for (int64_t i = 0; i < n; ++i) {
        if constexpr (std::is_same_v<T, float>) {
          block[i] = philox::uniform_float<float>(words[i] & mask);
        } else {
          block[i] = philox::uniform_double(words[i]);
        }
      }
    });
  });
}

namespace {

// n is even.
void normals(const uint32_t* words, int64_t n, float* block) {
  using V = formula::FloatLanes;
  using W = formula::Bits<V>;
  constexpr int kLanes = formula::kLanes<V>;
  for (int64_t at = 0; at < n; at += 2 * kLanes) {
    W first{}, second{};
    const int pairs = static_cast<int>(std::min<int64_t>(kLanes, (n - at) / 2));
    for (int i = 0; i < pairs; ++i) {
      first[i] = words[at + 2 * i];
      second[i] = words[at + 2 * i + 1];
    }
    philox::NormalPair<V> pair = philox::normal_pair<V>(first, second);
    for (int i = 0; i < pairs; ++i) {
      block[at + 2 * i] = pair.even[i];
      block[at + 2 * i + 1] = pair.odd[i];
    }
  }
}

void normals(const uint32_t* words, int64_t n, double* block) {
  for (int64_t i = 0; i < n; i += 2) {
    philox::NormalPair<double> pair = philox::normal_pair_double(words[i], words[i + 1]);
    block[i] = pair.even;
    block[i + 1] = pair.odd;
  }
}

}  // namespace

void randn(const Call& call) {
  const TensorImpl& out = *call.outs[0].impl();
  const GeneratorState draw = take_draw();
  with_float_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    fill_blocks<T>(out, [&](uint64_t first, int64_t n, T* block) {
      alignas(64) uint32_t words[kBlock];
      const int64_t even = (n + 1) / 2 * 2;
      philox::fill_words(draw.seed, draw.draws, first, static_cast<uint64_t>(even), words);
      normals(words, even, block);
    });
  });
}

void randint(const Call& call) {
  const TensorImpl& out = *call.outs[0].impl();
  const GeneratorState draw = take_draw();
  const int64_t low = call.integer(0);
  const uint64_t range = static_cast<uint64_t>(call.integer(1)) - static_cast<uint64_t>(low);
  fill_blocks<int64_t>(out, [&](uint64_t first, int64_t n, int64_t* block) {
    alignas(64) uint32_t words[2 * kBlock];
    if (philox::range_fits_word(range)) {
      philox::fill_words(draw.seed, draw.draws, first, static_cast<uint64_t>(n), words);
      for (int64_t i = 0; i < n; ++i) block[i] = philox::integer_of_word(words[i], range, low);
    } else {
      philox::fill_words(draw.seed, draw.draws, 2 * first, static_cast<uint64_t>(2 * n), words);
      for (int64_t i = 0; i < n; ++i) block[i] = philox::integer_of_words(words[2 * i], words[2 * i + 1], range, low);
    }
  });
}

}  // namespace fuselet::cpu
