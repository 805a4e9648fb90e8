// float formulas against long double or double references over all of float's bit patterns, in
// strides.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/ops/derived_formulas.h"

namespace formula = fuselet::formula;
using formula::FloatLanes;

namespace {

// |got - exact| in units of the spacing of floats at the exact value; 0 where both are NaN or both
// round to infinity.
double ulps(float got, double exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(static_cast<float>(exact)) && std::isinf(got))
    return std::signbit(got) == std::signbit(exact) ? 0 : INFINITY;
  if (std::isnan(got)) return INFINITY;
  int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  return std::abs(got - exact) / std::ldexp(1.0, exponent - 23);
}

struct Worst {
  double error = 0;
  float at = 0;
};

// Every stride-th bit pattern; the strides are odd, so all exponents and both signs come up.
template <class Formula, class Exact>
Worst sweep(std::uint32_t stride, Formula f, Exact exact) {
  constexpr int lanes = formula::kLanes<FloatLanes>;
  Worst worst;
  for (std::uint64_t pattern = 0; pattern < (1ull << 32); pattern += std::uint64_t(stride) * lanes) {
    FloatLanes x;
    for (int i = 0; i < lanes; ++i) {
      std::uint32_t bits = std::uint32_t(pattern + std::uint64_t(i) * stride);
      float lane;
      std::memcpy(&lane, &bits, 4);
      x[i] = lane;
    }
    FloatLanes y = f(x);
    for (int i = 0; i < lanes; ++i) {
      double error = ulps(y[i], exact(static_cast<double>(x[i])));
      if (error > worst.error) worst = {error, x[i]};
    }
  }
  return worst;
}

const double kPi = 3.14159265358979323846;
double normal_cdf(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }
double normal_pdf(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * kPi); }
double logistic(double w) { return 1 / (1 + std::exp(-w)); }
double gelu_tanh_argument(double x) { return 2 * std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x); }

}  // namespace

#define CHECK_ULPS(name, stride, bound, exact)                                                  \
  TEST_CASE("accuracy of " #name) {                                                             \
    Worst worst = sweep(                                                                        \
        stride, [](FloatLanes x) { return formula::name(x); }, [](double x) { return exact; }); \
    MESSAGE(#name ": " << worst.error << " ulp at " << worst.at);                               \
    CHECK(worst.error <= bound);                                                                \
  }

CHECK_ULPS(exp, 211, 1.0, std::exp(x))
CHECK_ULPS(log, 211, 1.0, std::log(x))
CHECK_ULPS(log1p, 211, 1.5, std::log1p(x))
CHECK_ULPS(tanh, 211, 2.0, std::tanh(x))
CHECK_ULPS(erf, 211, 2.0, std::erf(x))
CHECK_ULPS(sin, 211, 2.0, std::sin(x))
CHECK_ULPS(cos, 211, 2.0, std::cos(x))
CHECK_ULPS(expm1, 2111, 4.0, std::expm1(x))
CHECK_ULPS(tan, 2111, 5.0, std::tan(x))
CHECK_ULPS(exp2, 2111, 0.51, std::exp2(x))
CHECK_ULPS(log2, 2111, 0.51, std::log2(x))
CHECK_ULPS(log10, 2111, 0.51, std::log10(x))
CHECK_ULPS(erfc, 2111, 0.51, std::erfc(x))
CHECK_ULPS(sqrt, 211, 0.5, std::sqrt(x))
CHECK_ULPS(rsqrt, 211, 1.5, 1 / std::sqrt(x))
CHECK_ULPS(reciprocal, 211, 0.5, 1 / x)
CHECK_ULPS(sigmoid, 211, 3.0, logistic(x))
CHECK_ULPS(silu, 211, 5.0, x == -INFINITY ? -0.0 : x * logistic(x))
CHECK_ULPS(gelu_erf, 211, 5.0, x == -INFINITY ? -0.0 : x * normal_cdf(x))
CHECK_ULPS(gelu_tanh, 211, 5.0, x == -INFINITY ? -0.0 : x * logistic(gelu_tanh_argument(x)))

namespace {
// A gradient is held to a few ulp of its larger term, for its terms cancel at one point.
template <class Formula, class Terms>
double worst_gradient(Formula f, Terms terms) {
  double worst = 0;
  for (float x = -20; x < 20; x += 0x1p-14f) {
    auto [first, second] = terms(static_cast<double>(x));
    double scale = std::max({std::abs(first), std::abs(second), 0x1p-126});
    worst = std::max(worst, std::abs(f(x) - (first + second)) / std::ldexp(1.0, std::ilogb(scale) - 23));
  }
  return worst;
}
struct Terms {
  double first, second;
};
}  // namespace

TEST_CASE("gradients of silu and gelu to a few ulp of their larger term") {
  double silu = worst_gradient([](float x) { return formula::silu_grad(1.0f, x); },
                               [](double x) {
                                 double s = logistic(x);
                                 return Terms{s, x * s * (1 - s)};
                               });
  double gelu_erf = worst_gradient([](float x) { return formula::gelu_erf_grad(1.0f, x); },
                                   [](double x) {
                                     return Terms{normal_cdf(x), x * normal_pdf(x)};
                                   });
  double gelu_tanh = worst_gradient([](float x) { return formula::gelu_tanh_grad(1.0f, x); },
                                    [](double x) {
                                      double s = logistic(gelu_tanh_argument(x)),
                                             slope = 2 * std::sqrt(2 / kPi) * (1 + 3 * 0.044715 * x * x);
                                      return Terms{s, x * s * (1 - s) * slope};
                                    });
  MESSAGE("silu_grad " << silu << ", gelu_erf_grad " << gelu_erf << ", gelu_tanh_grad " << gelu_tanh << " ulp");
  CHECK(silu <= 5);
  CHECK(gelu_erf <= 5);
  CHECK(gelu_tanh <= 5);
}

TEST_CASE("erfinv undoes erf, to the last bits of double in the middle and of 1 - x in the tails") {
  for (double z = -3.9; z < 3.9; z += 0.0173) {
    // erf(z) is a double near 1 in the tails, so z is known from it to this much.
    const double known = 4e-16 * (std::abs(z) + std::exp(z * z));
    CHECK(std::abs(formula::erfinv(std::erf(z)) - z) <= known);
  }
  CHECK(formula::erfinv(1e-300) == doctest::Approx(0.88622692545275801365e-300).epsilon(1e-15));
  CHECK(formula::erfinv(1.0f) == INFINITY);
  CHECK(formula::erfinv(-1.0f) == -INFINITY);
  CHECK(std::isnan(formula::erfinv(1.5f)));
  CHECK(std::isnan(formula::erfinv(-INFINITY)));
  CHECK(formula::erfinv(0.0f) == 0);
}

TEST_CASE("pow is C's pow, rounded once") {
  const float values[] = {0.0f, -0.0f, 1.0f,     -1.0f,     2.0f, -2.0f,  3.0f,  -3.0f,
                          0.5f, -0.5f, INFINITY, -INFINITY, NAN,  1e-30f, 1e30f, 2.5f};
  for (float x : values) {
    for (float y : values) CHECK(ulps(formula::pow(x, y), std::pow(double(x), double(y))) <= 0.5001);
  }
  CHECK(formula::pow(0.0f, 0.0f) == 1.0f);
  CHECK(formula::pow(-2.0f, 3.0f) == -8.0f);
  std::uint32_t state = 1;
  for (int i = 0; i < 1000000; ++i) {
    state = state * 1664525u + 1013904223u;
    float x = std::ldexp(1 + (state >> 9) * 0x1p-23f, int(state % 40) - 20);
    state = state * 1664525u + 1013904223u;
    float y = (int(state >> 8) - (1 << 23)) * 0x1p-20f;
    if (ulps(formula::pow(x, y), std::pow(double(x), double(y))) > 0.5001) FAIL_CHECK(x << " ^ " << y);
  }
}
