// argsort: line by line, stably; NaN counts as largest, and both zeros as equal.
#include <algorithm>
#include <numeric>
#include <vector>

#include "backends/cpu/dense.h"
#include "backends/cpu/indices.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"

namespace fuselet::cpu {
namespace {

// Elements of a thread below which waking another one does not pay.
constexpr int64_t kSortGrain = 2048;

template <class T>
struct Entry {
  T value;
  int64_t place;
};

template <class T>
bool comes_before(const Entry<T>& a, const Entry<T>& b) {
  return a.value < b.value || (b.value != b.value && a.value == a.value);
}
template <class T>
bool comes_before_downwards(const Entry<T>& a, const Entry<T>& b) {
  return a.value > b.value || (a.value != a.value && b.value == b.value);
}

// (O, L, I): lines of L elements that are I apart.
template <class T>
void sort_lines(const T* values, int64_t* places, int64_t outer, int64_t length, int64_t inner, bool descending) {
  parallel_for(outer * inner, std::max<int64_t>(kSortGrain / length, 1), [&](int64_t begin, int64_t end) {
    std::vector<Entry<T>> line(static_cast<size_t>(length));
    for (int64_t at = begin; at < end; ++at) {
      const int64_t first = at / inner * length * inner + at % inner;
      for (int64_t k = 0; k < length; ++k) line[static_cast<size_t>(k)] = {values[first + k * inner], k};
      std::stable_sort(line.begin(), line.end(), descending ? comes_before_downwards<T> : comes_before<T>);
      for (int64_t k = 0; k < length; ++k) places[first + k * inner] = line[static_cast<size_t>(k)].place;
    }
  });
}

}  // namespace

void argsort(const Call& call) {
  const Tensor &self = call.tensor(0), &out = call.outs[0];
  if (out.numel() == 0) return;
  const int64_t dim = wrap_dim(call.integer(1), self.dim(), "argsort"), length = extent(self, dim);
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < self.dim(); ++d) inner *= extent(self, d);
  with_compute_type(self.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const DenseIn<T> values(self);
    sort_lines<T>(values.data(), static_cast<int64_t*>(out.impl()->data()), out.numel() / length / inner, length, inner,
                  call.flag(2));
  });
}

}  // namespace fuselet::cpu
