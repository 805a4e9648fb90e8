// bernoulli; dropout_forward and dropout_grad: (x * mask) * scale, scale = 1 / keep rounded once to the compute type.
#include <algorithm>

#include "backends/cpu/block_run.h"
#include "backends/cpu/dense.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "core/generator.h"
#include "core/philox_blocks.h"
#include "core/random_values.h"

namespace fuselet::cpu {
namespace {

// Elements begin, begin + 1, … of the draw's mask.
void fill_mask(GeneratorState draw, uint32_t threshold, int64_t begin, int64_t n, uint8_t* mask) {
  alignas(64) uint16_t bits[kBlock];
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t part = std::min(kBlock, n - at);
    philox::fill_halfwords(draw.seed, draw.draws, static_cast<uint64_t>(begin + at), static_cast<uint64_t>(part), bits);
    for (int64_t i = 0; i < part; ++i) mask[at + i] = bits[i] < threshold;
  }
}

}  // namespace

void bernoulli(const Call& call) {
  const GeneratorState draw = take_draw();
  const uint32_t threshold = philox::keep_threshold(1 - call.number(1));
  uint8_t* mask = static_cast<uint8_t*>(call.outs[0].impl()->data());
  parallel_for(call.outs[0].numel(), kPointwiseGrain,
               [&](int64_t begin, int64_t end) { fill_mask(draw, threshold, begin, end - begin, mask + begin); });
}

void dropout_forward(const Call& call) {
  const Tensor &self = call.tensor(0), &out = call.outs[0], &mask = call.outs[1];
  const GeneratorState draw = take_draw();
  const uint32_t threshold = philox::keep_threshold(call.number(1));
  with_float_type(self.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T scale = static_cast<T>(philox::keep_scale(threshold));
    DenseIn<T> x(self);
    DenseOut<T> y(out);
    uint8_t* kept = static_cast<uint8_t*>(mask.impl()->data());
    parallel_for(self.numel(), kPointwiseGrain, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; at += kBlock) {
        const int64_t n = std::min(kBlock, end - at);
        fill_mask(draw, threshold, at, n, kept + at);
        for (int64_t i = at; i < at + n; ++i) y.data()[i] = x.data()[i] * static_cast<T>(kept[i]) * scale;
      }
    });
    y.finish();
  });
}

void dropout_grad(const Call& call) {
  const Tensor &grad = call.tensor(0), &out = call.outs[0];
  Tensor mask = call.tensor(1).is_contiguous() ? call.tensor(1) : copy_of(call.tensor(1));
  const uint32_t threshold = philox::keep_threshold(call.number(2));
  with_float_type(grad.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T scale = static_cast<T>(philox::keep_scale(threshold));
    DenseIn<T> g(grad);
    DenseOut<T> y(out);
    const uint8_t* kept = static_cast<const uint8_t*>(mask.impl()->data());
    parallel_for(grad.numel(), kPointwiseGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y.data()[i] = g.data()[i] * static_cast<T>(kept[i]) * scale;
    });
    y.finish();
  });
}

}  // namespace fuselet::cpu
