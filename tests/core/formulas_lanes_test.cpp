// A lane of any vector holds the scalar's bits, over random bit patterns, ordinary sizes and
// special values.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/ops/derived_formulas.h"

namespace formula = fuselet::formula;

namespace {

[[gnu::noinline]] std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ull;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

const double kSpecials[] = {0.0,      -0.0,      1.0,      -1.0,  0.5,    -0.5,   1.5,   2.5,  -2.5,
                            INFINITY, -INFINITY, NAN,      1e-40, -1e-40, 1e-310, 88.0,  89.0, -88.0,
                            -104.0,   0.625,     0.921875, 3.0e8, -3.0e8, 1e38,   1e308, 15.0, -15.0};

// Half random bit patterns, a quarter ordinary sizes, a quarter special values.
template <class S>
[[gnu::noinline]] S sample(std::uint64_t& state) {
  std::uint64_t choice = next_random(state) % 4, bits = next_random(state);
  if (choice == 0) return static_cast<S>(static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-59);
  if (choice == 1) {
    double special = kSpecials[bits % (sizeof(kSpecials) / sizeof(double))];
    if constexpr (std::is_integral_v<S>)
      return std::isfinite(special) && std::abs(special) < 1e18 ? S(special) : std::numeric_limits<S>::min();
    else
      return static_cast<S>(special);
  }
  S value;
  std::memcpy(&value, &bits, sizeof(S));
  return value;
}

template <class S>
bool same(S a, S b) {
  return std::memcmp(&a, &b, sizeof(S)) == 0 || (a != a && b != b);
}

// Kept out of line, or unrolled loops hold each formula many times.
template <class V, class Formula>
[[gnu::noinline]] V call(Formula f, V x, V y, V z) {
  return f(x, y, z);
}

template <class V, class Formula>
bool lanes_match(Formula f, int rounds = 4000) {
  using S = formula::Scalar<V>;
  std::uint64_t state = 7;
  for (int round = 0; round < rounds; ++round) {
    V x, y, z;
    for (int i = 0; i < formula::kLanes<V>; ++i) {
      x[i] = sample<S>(state);
      y[i] = sample<S>(state);
      z[i] = sample<S>(state);
    }
    V vector = call(f, x, y, z);
    for (int i = 0; i < formula::kLanes<V>; ++i) {
      S scalar = call<S>(f, x[i], y[i], z[i]);
      if (!same(S(vector[i]), scalar)) {
        MESSAGE("x " << x[i] << ", y " << y[i] << ", z " << z[i] << ": lane " << vector[i] << ", scalar " << scalar);
        return false;
      }
    }
  }
  return true;
}

}  // namespace

#define LANES(V, call)                                                                            \
  {                                                                                               \
    INFO(#V " " #call);                                                                           \
    CHECK(lanes_match<formula::V>(                                                                \
        [](auto x, [[maybe_unused]] auto y, [[maybe_unused]] auto z) { return formula::call; })); \
  }
#define LANES_OF_EACH_FLOATING(call) LANES(float8v, call) LANES(FloatLanes, call) LANES(DoubleLanes, call)
#define LANES_OF_EACH(call) LANES_OF_EACH_FLOATING(call) LANES(Int64Lanes, call)

TEST_CASE("a lane has the scalar's bits: arithmetic") {
  LANES_OF_EACH(add(x, y));
  LANES_OF_EACH(sub(x, y));
  LANES_OF_EACH(mul(x, y));
  LANES_OF_EACH(neg(x));
  LANES_OF_EACH(abs(x));
  LANES_OF_EACH(square(x));
  LANES_OF_EACH(maximum(x, y));
  LANES_OF_EACH(minimum(x, y));
  LANES_OF_EACH(clamp(x, y, z));
  LANES_OF_EACH(relu(x));
  LANES_OF_EACH(sign(x));
  LANES_OF_EACH(round(x));
  LANES_OF_EACH(floor(x));
  LANES_OF_EACH(ceil(x));
  LANES_OF_EACH(trunc(x));
  LANES_OF_EACH(fmod(x, y));
  LANES_OF_EACH(remainder(x, y));
  LANES_OF_EACH(floor_divide(x, y));
  LANES_OF_EACH(trunc_divide(x, y));
  LANES_OF_EACH_FLOATING(copysign(x, y));
  LANES_OF_EACH_FLOATING(lerp(x, y, z));
  LANES_OF_EACH_FLOATING(div(x, y));
  LANES_OF_EACH_FLOATING(reciprocal(x));
  LANES_OF_EACH_FLOATING(sqrt(x));
  LANES_OF_EACH_FLOATING(rsqrt(x));
  LANES_OF_EACH_FLOATING(fma(x, y, z));
}

TEST_CASE("a lane has the scalar's bits: comparisons and logic") {
  LANES_OF_EACH(eq(x, y));
  LANES_OF_EACH(ne(x, y));
  LANES_OF_EACH(lt(x, y));
  LANES_OF_EACH(le(x, y));
  LANES_OF_EACH(gt(x, y));
  LANES_OF_EACH(ge(x, y));
  LANES_OF_EACH(logical_and(x, y));
  LANES_OF_EACH(logical_or(x, y));
  LANES_OF_EACH(logical_xor(x, y));
  LANES_OF_EACH(logical_not(x));
  LANES_OF_EACH(where(x, y, z));
  LANES_OF_EACH(isnan(x));
  LANES_OF_EACH(isinf(x));
  LANES_OF_EACH(isfinite(x));
  LANES_OF_EACH(signbit(x));
  LANES(Int64Lanes, bitwise_and(x, y));
  LANES(Int64Lanes, bitwise_or(x, y));
  LANES(Int64Lanes, bitwise_xor(x, y));
  LANES(Int64Lanes, bitwise_left_shift(x, y));
  LANES(Int64Lanes, bitwise_right_shift(x, y));
}

TEST_CASE("a lane has the scalar's bits: transcendental functions") {
  LANES_OF_EACH_FLOATING(exp(x));
  LANES_OF_EACH_FLOATING(log(x));
  LANES_OF_EACH_FLOATING(tanh(x));
  LANES_OF_EACH_FLOATING(erf(x));
  LANES_OF_EACH_FLOATING(sin(x));
  LANES_OF_EACH_FLOATING(cos(x));
  LANES_OF_EACH_FLOATING(pow(x, y));
  LANES_OF_EACH_FLOATING(expm1(x));
  LANES_OF_EACH_FLOATING(log2(x));
  LANES_OF_EACH_FLOATING(tan(x));
  LANES_OF_EACH_FLOATING(atan2(x, y));
  LANES_OF_EACH_FLOATING(erfinv(x));
  LANES_OF_EACH_FLOATING(xlogy(x, y));
  LANES_OF_EACH_FLOATING(logaddexp(x, y));
}

TEST_CASE("a lane has the scalar's bits: activations") {
  LANES_OF_EACH_FLOATING(sigmoid(x));
  LANES_OF_EACH_FLOATING(silu(x));
  LANES_OF_EACH_FLOATING(gelu_erf(x));
  LANES_OF_EACH_FLOATING(gelu_tanh(x));
  LANES_OF_EACH_FLOATING(sigmoid_grad(x, y));
  LANES_OF_EACH_FLOATING(tanh_grad(x, y));
  LANES_OF_EACH_FLOATING(silu_grad(x, y));
  LANES_OF_EACH_FLOATING(gelu_erf_slope(x));
  LANES_OF_EACH_FLOATING(gelu_erf_grad(x, y));
  LANES_OF_EACH_FLOATING(gelu_tanh_grad(x, y));
}
