// VJPs of scans.
#include <limits>

#include "autograd/vjp.h"
#include "core/ops/functions.h"

namespace fuselet::vjp {

void scan_sum(VjpContext& c) { c.set(0, fuselet::scan_sum(c.grad(), c.integer(1), !c.flag(2))); }

// The gradient of x[i] is the sum over j from i on of g[j] y[j] / x[i]. The first zero of a line gets it from the
// products y' without that zero: sum of g[j] y'[j]; what comes behind it has y = 0. (Second derivatives through two
// zeros of one line are left out.)
void scan_product(VjpContext& c) {
  const int64_t dim = c.integer(1);
  const bool reverse = c.flag(2);
  Tensor x = c.tensor(0), g = c.grad();
  Tensor zero = x == 0;
  Tensor first = logical_and(zero, fuselet::scan_sum(zero.cast(DType::Int64), dim, reverse) == 1);
  Tensor through = fuselet::scan_sum(g * c.result(), dim, !reverse) / where(zero, 1, x);
  Tensor without = fuselet::scan_product(where(first, 1, x), dim, reverse);
  // Before the first zero, and where there is none, y' is y; those places are not read.
  Tensor seen = fuselet::scan_sum(zero.cast(DType::Int64), dim, reverse) > 0;
  c.set(0, where(first, fuselet::scan_sum(where(seen, g * without, 0), dim, !reverse), through));
}

// exp(x[i]) times the sum over j from i on of g[j] exp(-y[j]), by its logarithm: y may lie far below 0.
void scan_logaddexp(VjpContext& c) {
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  const int64_t dim = c.integer(1);
  const bool reverse = c.flag(2);
  Tensor x = c.tensor(0), y = c.result(), g = c.grad();
  auto part = [&](const Tensor& sign_matches, const Tensor& magnitude) {
    Tensor logs = where(logical_and(sign_matches, y > kLowest), log(where(sign_matches, magnitude, 1)) - y, kLowest);
    return exp(fuselet::scan_logaddexp(logs, dim, !reverse) + x);
  };
  c.set(0, where(x > kLowest, part(g > 0, g) - part(g < 0, -g), 0));
}

}  // namespace fuselet::vjp
