// Random operators. Philox4x32-10 is written out here a second time, from its definition (Salmon et al. 2011), as are
// the maps from words to values that core/random_values.h documents.
#include <array>
#include <cmath>

#include "backends/reference/random_elements.h"
#include "backends/reference/reference.h"
#include "core/dispatch_state.h"

namespace fuselet::reference {
namespace {

using Block = std::array<uint32_t, 4>;

// key: the seed; counter: block index, then draw number, low halves first.
Block philox_block(GeneratorState draw, uint64_t index) {
  auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  Block c = {low(index), high(index), low(draw.draws), high(draw.draws)};
  uint32_t key0 = low(draw.seed), key1 = high(draw.seed);
  for (int round = 0; round < 10; ++round) {
    uint64_t p = uint64_t{0xD2511F53} * c[0], q = uint64_t{0xCD9E8D57} * c[2];
    c = {high(q) ^ c[1] ^ key0, low(q), high(p) ^ c[3] ^ key1, low(p)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c;
}

uint32_t word_of(GeneratorState draw, size_t element) { return philox_block(draw, element / 4)[element % 4]; }

// 16 bits an element: the low half of a word, then its high half.
uint32_t halfword_of(GeneratorState draw, size_t element) {
  uint32_t word = philox_block(draw, element / 8)[element % 8 / 2];
  return element % 2 == 0 ? word & 0xffff : word >> 16;
}

}  // namespace

// As many of the word's top bits as the dtype holds exactly: no value rounds up to 1.
double uniform_element(GeneratorState draw, size_t element, DType dtype) {
  int bits = dtype == DType::Float64 ? 32 : dtype == DType::Float32 ? 24 : dtype == DType::Float16 ? 11 : 8;
  return std::ldexp(word_of(draw, element) >> (32 - bits), -bits);
}

double normal_element(GeneratorState draw, size_t element) {
  Block block = philox_block(draw, element / 4);
  size_t pair = element % 4 / 2 * 2;
  double radius = std::sqrt(-2 * std::log(std::ldexp(block[pair] + 0.5, -32)));
  double angle = 2 * M_PI * std::ldexp(block[pair + 1], -32);
  return radius * (element % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

bool bernoulli_element(GeneratorState draw, size_t element, uint32_t threshold) {
  return halfword_of(draw, element) < threshold;
}

namespace {

// How many of the 2^16 halfwords keep an element.
double kept_halfwords(double p) { return std::nearbyint((1 - p) * 65536); }

}  // namespace

void rand(RefCall& call) {
  RefTensor out = make(call.ints(0), call.dtype_or(1, dispatch_state().default_dtype));
  for (size_t i = 0; i < out.values.size(); ++i) out.values[i] = uniform_element(call.draw, i, out.dtype);
  call.outs = {out};
}

void randn(RefCall& call) {
  RefTensor out = make(call.ints(0), call.dtype_or(1, dispatch_state().default_dtype));
  for (size_t i = 0; i < out.values.size(); ++i) out.values[i] = normal_element(call.draw, i);
  call.outs = {out};
}

// The word as a fraction of 2^32, scaled to the range and floored. Ranges beyond 2^32, which take two words an element,
// are left out.
void randint(RefCall& call) {
  int64_t low = call.integer(0);
  uint64_t range = static_cast<uint64_t>(call.integer(1)) - static_cast<uint64_t>(low);
  RefTensor out = make(call.ints(2), call.dtype_or(3, DType::Int64));
  for (size_t i = 0; i < out.values.size(); ++i) {
    double value = static_cast<double>(low) + static_cast<double>(word_of(call.draw, i) * range >> 32);
    out.values[i] = stored_as(value, out.dtype, true);
  }
  call.outs = {out};
}

void bernoulli(RefCall& call) {
  RefTensor out = make(call.ints(0), DType::Bool);
  double kept = std::nearbyint(call.number(1) * 65536);
  for (size_t i = 0; i < out.values.size(); ++i) out.values[i] = halfword_of(call.draw, i) < kept;
  call.outs = {out};
}

void dropout_forward(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  double kept = kept_halfwords(call.number(1));
  RefTensor out = make(x.sizes, x.dtype), mask = make(x.sizes, DType::Bool);
  for (size_t i = 0; i < x.values.size(); ++i) {
    bool keep = halfword_of(call.draw, i) < kept;
    mask.values[i] = keep;
    out.values[i] = keep ? x.values[i] * (65536 / kept) : 0;
  }
  call.outs = {out, mask};
}

void dropout_grad(RefCall& call) {
  const RefTensor &grad = call.tensor(0), &mask = call.tensor(1);
  double kept = kept_halfwords(call.number(2));
  RefTensor out = make(grad.sizes, grad.dtype);
  for (size_t i = 0; i < out.values.size(); ++i)
    out.values[i] = mask.values[i] != 0 ? grad.values[i] * (65536 / kept) : 0;
  call.outs = {out};
}

}  // namespace fuselet::reference
