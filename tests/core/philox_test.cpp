// Philox against the vectors published with Random123, arrays against single elements, and moments
// of the values.
#include "core/philox.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/philox_blocks.h"
#include "core/random_values.h"

namespace philox = fuselet::philox;
using fuselet::formula::FloatLanes;
using philox::Words;

namespace {

struct KnownAnswer {
  std::uint32_t counter[4], key[2], answer[4];
};
const KnownAnswer kKnownAnswers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

struct Moments {
  double mean = 0, variance = 0, fourth = 0;
};
Moments moments_of(const std::vector<double>& values) {
  Moments m;
  for (double v : values) m.mean += v / values.size();
  for (double v : values) m.variance += (v - m.mean) * (v - m.mean) / values.size();
  for (double v : values) m.fourth += std::pow(v - m.mean, 4) / values.size();
  return m;
}

}  // namespace

TEST_CASE("known answers, scalar and in every lane") {
  for (const KnownAnswer& known : kKnownAnswers) {
    Words<unsigned> counter;
    Words<philox::WordLanes> lanes;
    for (int w = 0; w < 4; ++w) {
      counter.word[w] = known.counter[w];
      lanes.word[w] = philox::WordLanes{} + known.counter[w];
    }
    Words<unsigned> got = philox::philox4x32_10(counter, known.key[0], known.key[1]);
    Words<philox::WordLanes> got_lanes = philox::philox4x32_10(lanes, known.key[0], known.key[1]);
    for (int w = 0; w < 4; ++w) {
      CHECK(got.word[w] == known.answer[w]);
      for (int lane = 0; lane < philox::kWordLanes; ++lane) CHECK(got_lanes.word[w][lane] == known.answer[w]);
    }
  }
}

TEST_CASE("the counter is (block index, draw number) and the key is the seed") {
  Words<unsigned> pi = philox::random_block(0x299f31d0a4093822u, 0x0370734413198a2eu, 0x85a308d3243f6a88u);
  for (int w = 0; w < 4; ++w) CHECK(pi.word[w] == kKnownAnswers[2].answer[w]);
}

TEST_CASE("arrays hold the words and halfwords of single elements, wherever they begin") {
  const std::uint64_t seed = 0x123456789abcdefull, draw = 0x1ffffffffull;
  for (std::uint64_t first : {0ull, 1ull, 3ull, 4ull, 13ull, (1ull << 34) - 37, (1ull << 35) - 70}) {
    for (std::uint64_t count : {0, 1, 5, 64, 127, 300}) {
      std::vector<std::uint32_t> words(count + 1, 77);
      std::vector<std::uint16_t> halfwords(count + 1, 77);
      philox::fill_words(seed, draw, first, count, words.data());
      philox::fill_halfwords(seed, draw, first, count, halfwords.data());
      int wrong = 0;
      for (std::uint64_t k = 0; k < count; ++k) {
        wrong += words[k] != philox::random_word(seed, draw, first + k);
        wrong += halfwords[k] != philox::random_halfword(seed, draw, first + k);
      }
      CHECK(wrong == 0);
      CHECK(words[count] == 77);
      CHECK(halfwords[count] == 77);
    }
  }
}

TEST_CASE("uniforms: range, grid, moments") {
  CHECK(philox::uniform_float<float>(0u) == 0);
  CHECK(philox::uniform_float<float>(0xffffffffu) == 1 - 0x1p-24f);
  CHECK(philox::uniform_float<float>(0x100u) == 0x1p-24f);
  CHECK(philox::uniform_double(0xffffffffu) == 1 - 0x1p-32);
  std::vector<std::uint32_t> words(1 << 20);
  philox::fill_words(7, 3, 0, words.size(), words.data());
  std::vector<double> values;
  for (std::uint32_t w : words) values.push_back(philox::uniform_float<float>(w));
  Moments m = moments_of(values);
  // Five standard errors.
  CHECK(std::abs(m.mean - 0.5) < 5 * std::sqrt(1.0 / 12 / values.size()));
  CHECK(std::abs(m.variance - 1.0 / 12) < 5 * std::sqrt(1.0 / 180 / values.size()));
}

TEST_CASE("Bernoulli masks keep the quantised share, and the scale makes up for it") {
  CHECK(philox::keep_threshold(0.0) == 65536);
  CHECK(philox::keep_threshold(1.0) == 0);
  CHECK(philox::keep_threshold(0.5) == 32768);
  CHECK(philox::keep_threshold(0.1) == 58982);
  CHECK(philox::keep_scale(0) == 0);
  CHECK(philox::keep_scale(65536) == 1);
  CHECK(philox::keep_scale(58982) * 58982 / 65536 == doctest::Approx(1).epsilon(1e-15));
  std::vector<std::uint16_t> halfwords(1 << 20);
  philox::fill_halfwords(11, 0, 0, halfwords.size(), halfwords.data());
  for (double p : {0.1, 0.5, 0.9}) {
    unsigned threshold = philox::keep_threshold(p);
    double kept = std::count_if(halfwords.begin(), halfwords.end(), [&](unsigned h) { return h < threshold; });
    double n = halfwords.size(), share = threshold / 65536.0;
    CHECK(std::abs(kept / n - share) < 5 * std::sqrt(share * (1 - share) / n));
  }
}

TEST_CASE("normals: formula, moments, lanes") {
  std::vector<std::uint32_t> words(1 << 20);
  philox::fill_words(5, 9, 0, words.size(), words.data());
  std::vector<double> values;
  double worst = 0;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    auto pair = philox::normal_pair<float>(words[i], words[i + 1]);
    double radius = std::sqrt(-2 * std::log((words[i] + 0.5) * 0x1p-32)), angle = 2 * M_PI * (words[i + 1] * 0x1p-32);
    // u as a float is off by up to 2^-25, which counts where the radius is small.
    double allowed = 1e-6 + 0x1p-25 / radius;
    worst = std::max({worst, std::abs(pair.even - radius * std::cos(angle)) / allowed,
                      std::abs(pair.odd - radius * std::sin(angle)) / allowed});
    auto exact = philox::normal_pair_double(words[i], words[i + 1]);
    worst = std::max({worst, 1e14 * std::abs(exact.even - radius * std::cos(angle)),
                      1e14 * std::abs(exact.odd - radius * std::sin(angle))});
    values.push_back(pair.even);
    values.push_back(pair.odd);
  }
  CHECK(worst < 1);
  for (std::size_t i = 0; i < 64; ++i) CHECK(philox::normal_float(5, 9, i) == static_cast<float>(values[i]));
  Moments m = moments_of(values);
  double n = values.size();
  CHECK(std::abs(m.mean) < 5 / std::sqrt(n));
  CHECK(std::abs(m.variance - 1) < 5 * std::sqrt(2 / n));
  CHECK(std::abs(m.fourth - 3) < 5 * std::sqrt(96 / n));
  philox::WordLanes first, second;
  for (int lane = 0; lane < philox::kWordLanes; ++lane) {
    first[lane] = lane == 0 ? 0 : lane == 1 ? 0xffffffffu : words[lane];
    second[lane] = lane == 2 ? 0 : lane == 3 ? 0xffffffffu : words[100 + lane];
  }
  auto lanes = philox::normal_pair<FloatLanes>(first, second);
  for (int lane = 0; lane < philox::kWordLanes; ++lane) {
    auto pair = philox::normal_pair<float>(first[lane], second[lane]);
    CHECK(pair.even == lanes.even[lane]);
    CHECK(pair.odd == lanes.odd[lane]);
    CHECK(std::abs(pair.even) < 6.8f);
  }
}
