// The formulas' rules for NaN, signed zeros, infinities and wrapping integers, and double against
// the standard library.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>

#include "core/ops/derived_formulas.h"

namespace formula = fuselet::formula;

namespace {

template <class S>
bool same(S a, S b) {
  return std::memcmp(&a, &b, sizeof(S)) == 0 || (a != a && b != b);
}

}  // namespace

TEST_CASE_TEMPLATE("rules for NaN, infinity and signed zero", S, float, double) {
  const S nan = std::numeric_limits<S>::quiet_NaN(), inf = std::numeric_limits<S>::infinity();
  CHECK(std::isnan(formula::maximum(nan, S(1))));
  CHECK(std::isnan(formula::maximum(S(1), nan)));
  CHECK(std::isnan(formula::minimum(nan, -inf)));
  CHECK(std::isnan(formula::minimum(-inf, nan)));
  CHECK(!std::signbit(formula::maximum(S(-0.0), S(0))));
  CHECK(!std::signbit(formula::maximum(S(0), S(-0.0))));
  CHECK(std::signbit(formula::minimum(S(-0.0), S(0))));
  CHECK(std::signbit(formula::minimum(S(0), S(-0.0))));
  CHECK(formula::clamp(S(3), S(2), S(1)) == 1);
  CHECK(std::isnan(formula::clamp(nan, S(0), S(1))));
  CHECK(std::isnan(formula::relu(nan)));
  CHECK(!std::signbit(formula::relu(S(-0.0))));
  CHECK(formula::sign(nan) != formula::sign(nan));  // stays NaN
  CHECK(formula::isnan(nan) == 1);
  CHECK(formula::logical_not(nan) == 0);
  CHECK(formula::eq(nan, nan) == 0);
  CHECK(formula::ne(nan, nan) == 1);
  CHECK(formula::where(nan, S(1), S(2)) == 1);
  CHECK(std::signbit(formula::splat<S>(S(-0.0))));
  for (S x : {S(0.5), S(1.5), S(-0.5), S(-2.5), S(0.3), S(-0.3), S(-0.0), S(1e30), S(8388607.5), S(-7.99), inf, -inf}) {
    CHECK(same(formula::floor(x), std::floor(x)));
    CHECK(same(formula::ceil(x), std::ceil(x)));
    CHECK(same(formula::round(x), std::nearbyint(x)));
  }
  CHECK(formula::exp(inf) == inf);
  CHECK(same(formula::exp(-inf), S(0)));
  CHECK(formula::log(S(0)) == -inf);
  CHECK(formula::log(S(-0.0)) == -inf);
  CHECK(formula::log(inf) == inf);
  CHECK(std::isnan(formula::log(S(-1))));
  CHECK(std::isnan(formula::sin(inf)));
  CHECK(std::isnan(formula::cos(-inf)));
  CHECK(same(formula::tanh(S(-0.0)), S(-0.0)));
  CHECK(same(formula::sin(S(-0.0)), S(-0.0)));
  CHECK(same(formula::erf(S(-0.0)), S(-0.0)));
  CHECK(formula::sigmoid(-inf) == 0);
  CHECK(formula::sigmoid(inf) == 1);
  CHECK(same(formula::silu(-inf), S(-0.0)));
  CHECK(same(formula::gelu_erf(-inf), S(-0.0)));
  CHECK(same(formula::gelu_tanh(-inf), S(-0.0)));
  CHECK(formula::silu(inf) == inf);
  CHECK(formula::gelu_erf(inf) == inf);
  CHECK(formula::gelu_tanh(inf) == inf);
  CHECK(formula::silu_grad(S(1), inf) == 1);
  CHECK(formula::silu_grad(S(1), -inf) == 0);
  CHECK(formula::gelu_erf_grad(S(1), inf) == 1);
  CHECK(std::abs(formula::gelu_erf_grad(S(1), -inf)) < std::numeric_limits<S>::min());
  CHECK(formula::gelu_tanh_grad(S(1), inf) == 1);
  CHECK(formula::gelu_tanh_grad(S(1), -inf) == 0);
}

TEST_CASE_TEMPLATE("NaN stays NaN", S, float, double) {
  using Unary = S (*)(S);
  using Binary = S (*)(S, S);
  const S nan = std::numeric_limits<S>::quiet_NaN();
  const Unary unary[] = {formula::neg,   formula::abs,     formula::square, formula::reciprocal, formula::sqrt,
                         formula::rsqrt, formula::exp,     formula::log,    formula::tanh,       formula::erf,
                         formula::sin,   formula::cos,     formula::relu,   formula::floor,      formula::ceil,
                         formula::round, formula::sigmoid, formula::silu,   formula::gelu_erf,   formula::gelu_tanh};
  const Binary gradients[] = {formula::sigmoid_grad, formula::tanh_grad, formula::silu_grad, formula::gelu_erf_grad,
                              formula::gelu_tanh_grad};
  for (S x : {nan, S(-nan)}) {
    for (std::size_t i = 0; i < std::size(unary); ++i) {
      CAPTURE(i);
      CHECK(std::isnan(unary[i](x)));
    }
    for (std::size_t i = 0; i < std::size(gradients); ++i) {
      CAPTURE(i);
      CHECK(std::isnan(gradients[i](S(1), x)));
    }
  }
}

TEST_CASE("integers wrap around") {
  const std::int64_t low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
  CHECK(formula::add(high, std::int64_t(1)) == low);
  CHECK(formula::sub(low, std::int64_t(1)) == high);
  CHECK(formula::mul(high, std::int64_t(2)) == -2);
  CHECK(formula::neg(low) == low);
  CHECK(formula::abs(low) == low);
  CHECK(formula::abs(std::int64_t(-5)) == 5);
  CHECK(formula::sign(low) == -1);
  CHECK(formula::maximum(low, high) == high);
}

TEST_CASE("powers of integers") {
  auto pow = [](std::int64_t x, std::int64_t y) { return formula::pow(x, y); };
  CHECK(pow(3, 39) == 4052555153018976267);  // no double holds it
  CHECK(pow(-7, 21) == -558545864083284007);
  CHECK(pow(2, 63) == std::numeric_limits<std::int64_t>::min());
  CHECK(pow(3, 41) == static_cast<std::int64_t>(18026252303461234787u));  // 3^41 - 2^64
  CHECK(pow(0, 0) == 1);
  CHECK(pow(0, 5) == 0);
  CHECK(pow(5, -1) == 0);
  CHECK(pow(0, -1) == 0);
  CHECK(pow(1, -7) == 1);
  CHECK(pow(-1, -7) == -1);
  CHECK(pow(-1, -8) == 1);
}

TEST_CASE_TEMPLATE("division rounded to whole numbers", S, float, double) {
  const S inf = std::numeric_limits<S>::infinity();
  const S values[] = {S(0.3), S(1), S(7), S(-7), S(0.1), S(-0.1), S(1e20), S(-2.5), S(0.5)};
  for (S x : values) {
    for (S y : values) {
      CAPTURE(x);
      CAPTURE(y);
      CHECK(same(formula::fmod(x, y), std::fmod(x, y)));
      // Python's own definition of // by the exact remainder.
      S rest = std::fmod(x, y), whole = (x - rest) / y;
      if (rest != 0 && (rest < 0) != (y < 0)) rest += y, whole -= 1;
      CHECK(formula::remainder(x, y) == rest);
      CHECK(formula::floor_divide(x, y) == doctest::Approx(whole));
      CHECK(same(formula::trunc_divide(x, y), std::trunc(x / y)));
    }
  }
  CHECK(formula::floor_divide(S(1), S(0.1)) == 9);  // 0.1 is a little more than a tenth
  CHECK(formula::floor_divide(S(-7), S(2)) == -4);
  CHECK(formula::floor_divide(S(5), inf) == 0);
  CHECK(formula::floor_divide(S(-5), inf) == -1);
  CHECK(formula::floor_divide(S(3), S(0)) == inf);
  CHECK(std::isnan(formula::floor_divide(S(0), S(0))));
  CHECK(std::isnan(formula::remainder(S(3), S(0))));
  CHECK(same(formula::trunc(S(-0.5)), S(-0.0)));
  CHECK(formula::trunc(-inf) == -inf);
  CHECK(formula::lerp(S(0.1), S(0.7), S(1)) == S(0.7));
  CHECK(formula::isinf(-inf) == 1);
  CHECK(formula::isinf(inf - inf) == 0);
  CHECK(formula::isfinite(inf) == 0);
  CHECK(formula::signbit(S(-0.0)) == 1);
  CHECK(same(formula::copysign(inf, S(-0.0)), -inf));
  CHECK(formula::logaddexp(-inf, -inf) == -inf);
  CHECK(formula::logaddexp(inf, S(0)) == inf);
  CHECK(formula::xlogy(S(0), S(0)) == 0);
  CHECK(std::isnan(formula::xlogy(S(0), inf - inf)));
  CHECK(formula::expm1(inf) == inf);
  CHECK(formula::expm1(-inf) == -1);
  CHECK(formula::softplus(S(1000), S(1), S(20)) == 1000);
  CHECK(formula::log_sigmoid(S(-1000)) == -1000);
}

TEST_CASE("division and bits of integers") {
  using I = std::int64_t;
  const I low = std::numeric_limits<I>::min();
  const I quotients[][4] = {{7, 2, 3, 1},   {-7, 2, -4, 1}, {7, -2, -4, -1},   {-7, -2, 3, -1},
                            {-6, 3, -2, 0}, {5, 0, 0, 0},   {low, -1, low, 0}, {low, 1, low, 0}};
  for (const auto& [x, y, quotient, rest] : quotients) {
    CAPTURE(x);
    CAPTURE(y);
    CHECK(formula::floor_divide(x, y) == quotient);
    CHECK(formula::remainder(x, y) == rest);
  }
  CHECK(formula::trunc_divide(I(-7), I(2)) == -3);
  CHECK(formula::fmod(I(-7), I(2)) == -1);
  CHECK(formula::bitwise_left_shift(I(1), I(63)) == low);
  CHECK(formula::bitwise_left_shift(I(1), I(64)) == 0);
  CHECK(formula::bitwise_left_shift(I(1), I(-1)) == 0);
  CHECK(formula::bitwise_right_shift(I(-5), I(1)) == -3);
  CHECK(formula::bitwise_right_shift(I(-5), I(99)) == -1);
  CHECK(formula::bitwise_right_shift(I(5), I(-1)) == 0);
}

TEST_CASE("double formulas against the standard library") {
  for (double x = -40; x <= 40; x += 0.0371) {
    double sigmoid = 1 / (1 + std::exp(-x)), cdf = 0.5 * std::erfc(-x / std::sqrt(2.0));
    double w = 2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x), gate = 1 / (1 + std::exp(-w));
    double pdf = std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI);
    CHECK(formula::sigmoid(x) == doctest::Approx(sigmoid).epsilon(1e-14));
    CHECK(formula::silu(x) == doctest::Approx(x * sigmoid).epsilon(1e-14));
    CHECK(formula::gelu_erf(x) == doctest::Approx(x * cdf).epsilon(1e-13));
    CHECK(formula::gelu_tanh(x) == doctest::Approx(x * gate).epsilon(1e-13));
    CHECK(std::abs(formula::silu_grad(1.0, x) - sigmoid * (1 + x * (1 - sigmoid))) < 1e-14);
    CHECK(std::abs(formula::gelu_erf_grad(1.0, x) - (cdf + x * pdf)) < 1e-14);
    double slope = 2 * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
    CHECK(std::abs(formula::gelu_tanh_grad(1.0, x) - (gate + (gate == 0 ? 0 : x * gate * (1 - gate) * slope))) < 1e-13);
  }
}
