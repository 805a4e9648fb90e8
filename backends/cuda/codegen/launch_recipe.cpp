#include "backends/cuda/codegen/launch_recipe.h"

namespace fuselet::cuda::codegen {

// With p = 31 + ceil(log2 d), m = ceil(2^p / d) is below 2^32, and m * d - 2^p < d <= 2^(p - 31): so (x * m) >> p is
// x / d for every x below 2^31.
uint64_t divisor_word(int64_t d) {
  if (d == 1) return 0;
  unsigned bits = 0;
  while ((int64_t{1} << bits) < d) ++bits;
  const uint64_t power = uint64_t{1} << (31 + bits), divisor = static_cast<uint64_t>(d);
  const uint64_t multiplier = (power + divisor - 1) / divisor;
  return multiplier | uint64_t{bits - 1} << 32;
}

}  // namespace fuselet::cuda::codegen
