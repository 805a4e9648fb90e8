// Positions from numbers: quotients by sizes that a launch fixes, and indices that come from data. Generated units
// paste it.
#pragma once

#include "backends/cuda/codegen/prelude/values.h"

namespace fuselet::device {

// x / d for 0 <= x < 2^31 as (x * multiplier) >> (32 + shift), exact for every d in [1, 2^31); by the host's
// divisor_word.
struct Divisor {
  unsigned multiplier, shift;
};
FUSELET_FN int quotient(int x, Divisor d, int) {
  return d.multiplier == 0 ? x : (int)(__umulhi((unsigned)x, d.multiplier) >> d.shift);
}
FUSELET_FN long quotient(long x, Divisor, long d) { return x / d; }

// The first index out of range that a thread finds is left in `*failed` for the host, as `code`.
FUSELET_FN void report_failure(int* failed, long code) { atomicCAS(failed, 0, (int)code); }

// index in [-size, size), negative ones counted from the end, as a distance; 0, and a report, where it is out of range.
FUSELET_FN long place_of(int* failed, long code, bool wanted, long index, long size, long stride) {
  const long wrapped = index < 0 ? index + size : index;
  if (wrapped < 0 || wrapped >= size) {
    if (wanted) report_failure(failed, code);
    return 0;
  }
  return wrapped * stride;
}

}  // namespace fuselet::device
