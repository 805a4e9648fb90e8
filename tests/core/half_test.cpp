// float16 and bfloat16 over all their patterns, at ties, and against the nearest value found by
// search.
#include "core/half.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/half_blocks.h"

using fuselet::bfloat16;
using fuselet::float16;

namespace {

// What the bits mean, by the formats' definition.
double meaning(std::uint16_t bits, int exponent_bits, int mantissa_bits) {
  int bias = (1 << (exponent_bits - 1)) - 1, exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
  int mantissa = bits & ((1 << mantissa_bits) - 1);
  double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

struct Float16 {
  using Type = float16;
  static constexpr int kExponent = 5, kMantissa = 10;
  static Type from(float x) { return fuselet::to_float16(x); }
  static Type from(double x) { return fuselet::to_float16(x); }
};
struct Bfloat16 {
  using Type = bfloat16;
  static constexpr int kExponent = 8, kMantissa = 7;
  static Type from(float x) { return fuselet::to_bfloat16(x); }
  static Type from(double x) { return fuselet::to_bfloat16(x); }
};

}  // namespace

TEST_CASE_TEMPLATE("every pattern means what the format says and survives the round trip", H, Float16, Bfloat16) {
  int wrong = 0;
  for (int p = 0; p < 65536; ++p) {
    typename H::Type half{static_cast<std::uint16_t>(p)};
    float value = fuselet::to_float(half);
    double exact = meaning(half.bits, H::kExponent, H::kMantissa);
    if (std::isnan(exact)) {
      std::uint16_t quiet = half.bits | 1 << (H::kMantissa - 1);
      wrong += !std::isnan(value) || H::from(value).bits != quiet ||
               !std::isnan(fuselet::to_float(H::from(static_cast<double>(value))));
      wrong += std::signbit(value) != (half.bits >> 15);
    } else {
      wrong += value != exact || std::signbit(value) != std::signbit(exact);
      wrong += H::from(value).bits != half.bits || H::from(exact).bits != half.bits;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("between neighbours: the nearer one, the even one at the tie, from double by one rounding", H,
                   Float16, Bfloat16) {
  int wrong = 0;
  int infinity = ((1 << H::kExponent) - 1) << H::kMantissa;
  for (int p = 0; p < infinity; ++p) {
    std::uint16_t below = static_cast<std::uint16_t>(p), above = below + 1, even = p & 1 ? above : below;
    double low = meaning(below, H::kExponent, H::kMantissa);
    // The upper neighbour of the largest finite value is where infinity would stand.
    double high =
        p + 1 == infinity ? std::ldexp(1, 1 << (H::kExponent - 1)) : meaning(above, H::kExponent, H::kMantissa);
    double tie = low + (high - low) / 2;
    for (int sign : {0, 0x8000}) {
      double s = sign ? -1 : 1;
      wrong += H::from(s * tie).bits != (even | sign);
      wrong += H::from(static_cast<float>(s * tie)).bits != (even | sign);
      // Nearer than any float is to the tie: rounding through float would lose it.
      wrong += H::from(s * std::nextafter(tie, INFINITY)).bits != (above | sign);
      wrong += H::from(s * std::nextafter(tie, 0.0)).bits != (below | sign);
      wrong +=
          H::from(static_cast<float>(s) * std::nextafter(static_cast<float>(tie), INFINITY)).bits != (above | sign);
      wrong += H::from(static_cast<float>(s) * std::nextafter(static_cast<float>(tie), 0.0f)).bits != (below | sign);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("extremes", H, Float16, Bfloat16) {
  std::uint16_t infinity = static_cast<std::uint16_t>(((1 << H::kExponent) - 1) << H::kMantissa);
  CHECK(H::from(INFINITY).bits == infinity);
  CHECK(H::from(-1e300).bits == (infinity | 0x8000));
  CHECK(H::from(1e-300).bits == 0);
  CHECK(H::from(-0x1p-1074).bits == 0x8000);
  CHECK(H::from(-0.0f).bits == 0x8000);
}

TEST_CASE_TEMPLATE("blocks give the bits of the scalar conversions", H, Float16, Bfloat16) {
  std::vector<typename H::Type> halves(65536 + 5);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i].bits = static_cast<std::uint16_t>(i);
  std::vector<float> floats(halves.size());
  fuselet::load_as_float(halves.data(), floats.data(), floats.size());
  int wrong = 0;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    float scalar = fuselet::to_float(halves[i]);
    wrong += std::memcmp(&scalar, &floats[i], 4) != 0;
  }
  CHECK(wrong == 0);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    std::uint32_t bits = static_cast<std::uint32_t>(i) * 65521u + 77u;
    std::memcpy(&floats[i], &bits, 4);
  }
  fuselet::store_from_float(floats.data(), halves.data(), floats.size());
  for (std::size_t i = 0; i < floats.size(); ++i) wrong += halves[i].bits != H::from(floats[i]).bits;
  CHECK(wrong == 0);
}
