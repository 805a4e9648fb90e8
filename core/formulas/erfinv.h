// The inverse of erf: a closed approximation to 0.2 % (Winitzki 2008) and two of Halley's steps, which cube the error
// each. In double for float as well; right to a few ulp of double, tails included.
#pragma once

#include "core/formulas/elementary.h"

namespace fuselet::formula {

FUSELET_FN double erfinv_of(double x) {
  const double magnitude = x < 0 ? -x : x;
  if (magnitude == 1) return x * from_bits<double>(0x7ff0000000000000ull);
  if (!(magnitude < 1)) return from_bits<double>(0x7ff8000000000000ull);  // beyond 1
  constexpr double kA = 0.147, kTwoOverPiA = 2 / (3.14159265358979323846 * kA), kHalfSqrtPi = 0.88622692545275801365;
  const double logarithm = library_log1p(-magnitude * magnitude);
  const double half = kTwoOverPiA + 0.5 * logarithm, square = -logarithm / kA;
  // sqrt(sqrt(half^2 + square) - half), without the difference where half is positive.
  const double root = sqrt(half * half + square);
  double z = sqrt(half > 0 ? square / (root + half) : root - half);
  for (int step = 0; step < 2; ++step) {
    // Beyond 1/2 the distance from 1 is exact, and erfc small.
    const double excess = magnitude > 0.5 ? (1 - magnitude) - library_erfc(z) : library_erf(z) - magnitude;
    const double newton = excess * kHalfSqrtPi * library_exp(z * z);
    z -= newton / (1 + z * newton);
  }
  return x < 0 ? -z : z;
}

template <class V>
FUSELET_FN V erfinv(V x) {
  return in_double([](double lane) { return erfinv_of(lane); }, x);
}

}  // namespace fuselet::formula
