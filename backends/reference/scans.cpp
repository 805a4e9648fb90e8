// Scans: each element from all that stand before it, or behind it, anew.
#include <cmath>

#include "backends/reference/reference.h"

namespace fuselet::reference {
namespace {

template <class F>
void scan(RefCall& call, long double start, F&& combine) {
  const RefTensor& x = call.tensor(0);
  const bool reverse = call.flag(2);
  RefTensor out = make(x.sizes, x.dtype);
  const auto dim = static_cast<size_t>(x.rank() == 0 ? 0 : wrap(call.integer(1), x.rank()));
  for_each_index(x.sizes, [&](const Index& at) {
    if (x.rank() == 0) {
      out.at(at) = x.at(at);
      return;
    }
    long double result = start;
    Index from = at;
    const int64_t first = reverse ? at[dim] : 0, last = reverse ? x.sizes[dim] - 1 : at[dim];
    for (from[dim] = first; from[dim] <= last; ++from[dim]) result = combine(result, x.at(from));
    out.at(at) = static_cast<double>(result);
  });
  call.outs = {out};
}

}  // namespace

void scan_sum(RefCall& call) {
  scan(call, 0, [](long double so_far, double v) { return so_far + v; });
}

void scan_product(RefCall& call) {
  scan(call, 1, [](long double so_far, double v) { return so_far * v; });
}

void scan_logaddexp(RefCall& call) {
  scan(call, -INFINITY, [](long double so_far, double v) -> long double {
    if (so_far == v) return so_far + logl(2.0L);
    const long double high = std::fmax(so_far, static_cast<long double>(v));
    return high + log1pl(expl(-fabsl(so_far - v)));
  });
}

}  // namespace fuselet::reference
