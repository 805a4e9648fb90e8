// Scans along a dimension: each line from one end to the other in order, so results depend on neither threads nor
// layout. Floats are combined in double and rounded at each element.
#include "backends/cpu/dense.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "core/ops/derived_formulas.h"

namespace fuselet::cpu {
namespace {

// Neighbouring lines that one thread takes together, so that memory is read in order.
constexpr int64_t kStrip = 64;
// Work of a thread below which waking another one does not pay, in elements.
constexpr int64_t kGrain = 16384;

struct Lines {
  int64_t outer = 1, length = 1, inner = 1;  // of (outer, length, inner)

  Lines(DimsView sizes, int64_t dim) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      int64_t& extent = static_cast<int64_t>(d) < dim ? outer : static_cast<int64_t>(d) == dim ? length : inner;
      extent *= sizes[d].word();
    }
  }
};

template <class T, class Wide, class Combine>
void scan_lines(const T* x, T* y, const Lines& lines, bool reverse, const Combine& combine) {
  const int64_t strips = (lines.inner + kStrip - 1) / kStrip;
  const int64_t work = lines.length * std::min(lines.inner, kStrip);
  parallel_for(lines.outer * strips, std::max<int64_t>(kGrain / work, 1), [&](int64_t begin, int64_t end) {
    Wide so_far[kStrip];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % strips * kStrip, width = std::min(kStrip, lines.inner - first);
      for (int64_t k = 0; k < lines.length; ++k) {
        const int64_t row = task / strips * lines.length + (reverse ? lines.length - 1 - k : k);
        const int64_t at = row * lines.inner + first;
        for (int64_t i = 0; i < width; ++i) {
          const Wide value = static_cast<Wide>(x[at + i]);
          so_far[i] = k == 0 ? value : combine(so_far[i], value);
          y[at + i] = static_cast<T>(so_far[i]);
        }
      }
    }
  });
}

template <class Combine>
void scan(const Call& call, const Combine& combine) {
  const Tensor& self = call.tensor(0);
  if (self.numel() == 0) return;
  const Lines lines(self.sizes(), self.dim() == 0 ? 0 : wrap_dim(call.integer(1), self.dim(), call.op->name));
  with_compute_type(self.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using Wide = std::conditional_t<std::is_integral_v<T>, T, double>;
    const DenseIn<T> x(self);
    DenseOut<T> y(call.outs[0]);
    scan_lines<T, Wide>(x.data(), y.data(), lines, call.flag(2), combine);
    y.finish();
  });
}

}  // namespace

void scan_sum(const Call& call) {
  scan(call, [](auto a, auto b) { return formula::add(a, b); });
}

void scan_product(const Call& call) {
  scan(call, [](auto a, auto b) { return formula::mul(a, b); });
}

void scan_logaddexp(const Call& call) {
  scan(call, [](auto a, auto b) {
    if constexpr (std::is_integral_v<decltype(a)>)
      return a;  // the shape rule takes floats alone
    else
      return formula::logaddexp(a, b);
  });
}

}  // namespace fuselet::cpu
