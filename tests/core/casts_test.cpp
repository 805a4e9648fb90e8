// Casts from floating point to integers: truncation, both ends of each range, NaN.
#include "core/casts.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

using fuselet::cast_to_integer;

namespace {

// The rule in words, in long double, which holds every int64 and every double.
template <class Integer, class Float>
Integer expected(Float x) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(x)) return 0;
  long double truncated = std::trunc(static_cast<long double>(x));
  if (truncated > static_cast<long double>(Limits::max())) return Limits::max();
  if (truncated < static_cast<long double>(Limits::min())) return Limits::min();
  return static_cast<Integer>(truncated);
}

template <class Integer, class Float>
void check_casts() {
  using Limits = std::numeric_limits<Integer>;
  const Float inf = std::numeric_limits<Float>::infinity();
  Float ends[] = {Float(Limits::max()),
                  Float(Limits::min()),
                  0,
                  Float(0.5),
                  Float(127.5),
                  Float(128),
                  Float(255.99),
                  Float(256),
                  Float(-0.99),
                  Float(-128.5),
                  Float(-129),
                  Float(1e10),
                  Float(1e19),
                  Float(1e30),
                  inf,
                  std::numeric_limits<Float>::quiet_NaN(),
                  std::numeric_limits<Float>::denorm_min()};
  for (Float end : ends) {
    for (Float x : {end, std::nextafter(end, inf), std::nextafter(end, -inf), end + 1, end - 1}) {
      CAPTURE(x);
      CHECK(cast_to_integer<Integer>(x) == expected<Integer>(x));
      CHECK(cast_to_integer<Integer>(-x) == expected<Integer>(-x));
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("casts truncate and saturate", Integer, std::int64_t, std::int32_t, std::int8_t, std::uint8_t) {
  check_casts<Integer, float>();
  check_casts<Integer, double>();
}

TEST_CASE("landmarks of the rule") {
  CHECK(cast_to_integer<std::int32_t>(NAN) == 0);
  CHECK(cast_to_integer<std::int8_t>(-1000.0f) == -128);
  CHECK(cast_to_integer<std::uint8_t>(-1.0f) == 0);
  CHECK(cast_to_integer<std::uint8_t>(300.0) == 255);
  CHECK(cast_to_integer<std::int64_t>(0x1p63f) == std::numeric_limits<std::int64_t>::max());
  CHECK(cast_to_integer<std::int32_t>(-1.9) == -1);
  CHECK(cast_to_integer<bool>(0.5f));
  CHECK(cast_to_integer<bool>(NAN));
  CHECK_FALSE(cast_to_integer<bool>(-0.0));
}
