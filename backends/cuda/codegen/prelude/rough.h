// A float whose formulas may be off by 2^-10 of their value: for results that are rounded to 16 bits. Every formula of
// core/formulas takes it as its V; division, exp, tanh and square roots are then the device's approximate instructions,
// good to 2^-10 for tanh and to about 2^-21 else, with 0 for results of exp and 1 / x below 2^-126. Generated units
// paste it. The simulated device calculates them in full.
#pragma once

#include "backends/cuda/codegen/prelude/values.h"
#include "core/formulas/exponential.h"

namespace fuselet::formula {

struct Rough {
  float value;
  FUSELET_FN Rough() : value(0) {}
  FUSELET_FN Rough(float x) : value(x) {}
  FUSELET_FN explicit operator float() const { return value; }
};

template <>
inline constexpr bool kIsRough<Rough> = true;
template <>
struct LaneTraits<Rough> : ScalarTraits<float, int, unsigned> {};

#ifdef FUSELET_SIM
FUSELET_FN float approximate_tanh(float x) { return tanhf(x); }
FUSELET_FN float approximate_sqrt(float x) { return sqrtf(x); }
#else
FUSELET_FN float approximate_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
FUSELET_FN float approximate_sqrt(float x) {
  float y;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif

FUSELET_FN Rough operator+(Rough x, Rough y) { return x.value + y.value; }
FUSELET_FN Rough operator-(Rough x, Rough y) { return x.value - y.value; }
FUSELET_FN Rough operator*(Rough x, Rough y) { return x.value * y.value; }
FUSELET_FN Rough operator/(Rough x, Rough y) { return x.value * approximate_reciprocal(y.value); }
FUSELET_FN Rough operator-(Rough x) { return -x.value; }
FUSELET_FN bool operator<(Rough x, Rough y) { return x.value < y.value; }
FUSELET_FN bool operator>(Rough x, Rough y) { return x.value > y.value; }
FUSELET_FN bool operator<=(Rough x, Rough y) { return x.value <= y.value; }
FUSELET_FN bool operator>=(Rough x, Rough y) { return x.value >= y.value; }
FUSELET_FN bool operator==(Rough x, Rough y) { return x.value == y.value; }
FUSELET_FN bool operator!=(Rough x, Rough y) { return x.value != y.value; }

FUSELET_FN unsigned to_bits(Rough x) { return to_bits(x.value); }
FUSELET_FN Rough fma(Rough x, Rough y, Rough z) { return __fmaf_rn(x.value, y.value, z.value); }
FUSELET_FN Rough sqrt(Rough x) { return approximate_sqrt(x.value); }
FUSELET_FN Rough tanh(Rough x) { return approximate_tanh(x.value); }
FUSELET_FN Rough pow(Rough x, Rough y) { return pow(x.value, y.value); }
// The user's own division: right where a reciprocal overflows.
FUSELET_FN Rough div(Rough x, Rough y) { return x.value / y.value; }

FUSELET_FN Rough exp(Rough x) { return approximate_exp2(x.value * 0x1.715476p0f); }
template <class... Low>
FUSELET_FN ScaledExp<Rough> scaled_exp_within(Rough x, Low... x_low) {
  return {exp((x + ... + x_low)), Rough(0.0f)};
}
template <class... Low>
FUSELET_FN ScaledExp<Rough> scaled_exp(Rough x, Low... x_low) {
  return scaled_exp_within(x, x_low...);
}
FUSELET_FN Rough times_power_of_two(Rough x, Rough) { return x; }

}  // namespace fuselet::formula
