// The one rule for casts from floating point to integers and bool.
//
// To an integer: truncation toward zero, out-of-range values to the nearest end of the range, NaN
// to 0 (what the PTX cvt instruction does, so the GPU's own conversion agrees). To bool: x != 0, so
// NaN is true. C++ leaves these cases undefined; every backend goes through here. Includes no
// header, for NVRTC compiles it as well.
#pragma once

#include "core/formulas/lanes.h"

namespace fuselet {

template <class Integer>
struct IntegerRange;
template <>
struct IntegerRange<signed char> {
  static constexpr signed char kLow = -128, kHigh = 127;
};
template <>
struct IntegerRange<unsigned char> {
  static constexpr unsigned char kLow = 0, kHigh = 255;
};
template <>
struct IntegerRange<int> {
  static constexpr int kLow = -2147483647 - 1, kHigh = 2147483647;
};
template <>
struct IntegerRange<long> {
  static constexpr long kLow = -9223372036854775807L - 1, kHigh = 9223372036854775807L;
};
template <>
struct IntegerRange<long long> {
  static constexpr long long kLow = -9223372036854775807LL - 1, kHigh = 9223372036854775807LL;
};

// Float: float or double. Integer: int64_t, int32_t, int8_t, uint8_t or bool.
template <class Integer, class Float>
FUSELET_FN Integer cast_to_integer(Float x) {
  if constexpr (formula::kSame<Integer, bool>) {
    return x != Float(0);
  } else {
    using Range = IntegerRange<Integer>;
    // 2^31 and 2^63 are what the upper ends round to; -2^63 and the like are exact.
    constexpr Float kBeyond = Float(Range::kHigh / 2 + 1) * 2;
    constexpr Float kLowest = Float(Range::kLow);
    bool above = x >= kBeyond, below = x < kLowest, nan = x != x;
    Float inside = above || below || nan ? Float(0) : x;
    Integer result = static_cast<Integer>(inside);
    return above ? Range::kHigh : below ? Range::kLow : result;
  }
}

}  // namespace fuselet
