// scatter_add, index_add, embedding_grad: sums by destination, in index order; scatter, index_copy, scatter_fold: other
// ways of taking an element in, in the same order.
//
// Work is spread over lines (all coordinates but the scattered dimension), never over the indices of one line, so the
// order of them is the same for every number of threads. 16-bit floats are summed in float and rounded once.
#include <algorithm>

#include "backends/cpu/indices.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/space.h"
#include "core/formulas.h"
#include "core/ops/fold.h"

namespace fuselet::cpu {
namespace {

constexpr int64_t kSkipped = -1;
// Lines that advance together: neighbouring ones share cache lines.
constexpr int64_t kLines = 256;
// Additions of a thread below which waking another one does not pay.
constexpr int64_t kScatterGrain = 16384;

struct ScatterGeometry {
  Space lines{DimsView{}};  // operands: destination, source, index
  int64_t out_step = 0, source_step = 0, index_step = 0;
  int64_t count = 1;  // indices of a line
};

// `sizes`: of the source's part that is used; strides over them in elements of dense arrays. The dimension `dim` is
// walked.
ScatterGeometry geometry(DimsView sizes, const Dims& out, const Dims& source, const Dims& index, size_t dim) {
  ScatterGeometry g;
  Dims rest(sizes);
  Dims strides[3] = {out, source, index};
  if (!sizes.empty()) {
    g.count = sizes[dim].word();
    g.out_step = out[dim].word();
    g.source_step = source[dim].word();
    g.index_step = index[dim].word();
    rest.erase(dim);
    for (Dims& s : strides) s.erase(dim);
  }
  g.lines = Space(rest);
  for (const Dims& s : strides) g.lines.add(rest, s);
  g.lines.simplify();
  return g;
}

// take(what is there, the element): what is there then.
template <class T, class Take>
void take_lines(const ScatterGeometry& g, T* out, const T* source, const int64_t* index, Take take) {
  const int64_t total = g.lines.numel();
  if (total == 0 || g.count == 0) return;
  parallel_for(total, std::max<int64_t>(kScatterGrain / g.count, 1), [&](int64_t begin, int64_t end) {
    int64_t to[kLines], from[kLines], at[kLines];
    for (int64_t first = begin; first < end; first += kLines) {
      const int64_t n = std::min(kLines, end - first);
      Index place = g.lines.unravel(first);
      for (int64_t j = 0; j < n; ++j, g.lines.advance(place, 1)) {
        to[j] = g.lines.offset(0, place);
        from[j] = g.lines.offset(1, place);
        at[j] = g.lines.offset(2, place);
      }
      for (int64_t k = 0; k < g.count; ++k) {
        for (int64_t j = 0; j < n; ++j) {
          const int64_t target = index[at[j] + k * g.index_step];
          if (target == kSkipped) continue;
          T& there = out[to[j] + target * g.out_step];
          there = take(there, source[from[j] + k * g.source_step]);
        }
      }
    }
  });
}

constexpr auto kAdd = [](auto there, auto element) { return formula::add(there, element); };
constexpr auto kReplace = [](auto, auto element) { return element; };

// out becomes self with what the geometry takes in. In an in-place call out is self.
template <class T, class Take>
void take_into(const Call& call, const Tensor& source, const ScatterGeometry& g, const Indices& index, Take take) {
  const Tensor &self = call.tensor(0), &out = call.outs[0];
  const bool shares = call.in_place && source.impl()->storage() == out.impl()->storage();
  DenseIn<T> values(source, shares);
  DenseOut<T> sums(out);
  if (static_cast<void*>(sums.data()) != self.impl()->data())
    gather_into(*self.impl(), sums.data(), storage_of(kComputeType<T>));
  take_lines(g, sums.data(), values.data(), index.data(), take);
  sums.finish();
}

// self, dim, index and source as scatter_add has them.
template <class Take>
void scatter_by(const Call& call, Take take) {
  const Tensor &self = call.tensor(0), &index = call.tensor(2), &source = call.tensor(3);
  const int64_t dim = wrap_dim(call.integer(1), self.dim(), call.op->name);
  const Indices indices(index, extent(self, dim), call.op->name);
  const ScatterGeometry g =
      geometry(index.sizes(), contiguous_strides(self.sizes()), contiguous_strides(source.sizes()),
               contiguous_strides(index.sizes()), static_cast<size_t>(dim));
  with_compute_type(self.dtype(), [&](auto zero) { take_into<decltype(zero)>(call, source, g, indices, take); });
}

// self, dim, index and source as index_add has them.
template <class Take>
void index_by(const Call& call, Take take) {
  const Tensor &self = call.tensor(0), &index = call.tensor(2), &source = call.tensor(3);
  const size_t dim = static_cast<size_t>(wrap_dim(call.integer(1), self.dim(), call.op->name));
  const Indices indices(index, extent(self, static_cast<int64_t>(dim)), call.op->name);
  Dims index_strides(source.sizes().size(), 0);
  if (self.dim() > 0) index_strides[dim] = 1;
  const ScatterGeometry g = geometry(source.sizes(), contiguous_strides(self.sizes()),
                                     contiguous_strides(source.sizes()), index_strides, dim);
  with_compute_type(self.dtype(), [&](auto zero) { take_into<decltype(zero)>(call, source, g, indices, take); });
}

}  // namespace

void scatter_add(const Call& call) { scatter_by(call, kAdd); }
void scatter(const Call& call) { scatter_by(call, kReplace); }
void index_add(const Call& call) { index_by(call, kAdd); }
void index_copy(const Call& call) { index_by(call, kReplace); }

void scatter_fold(const Call& call) {
  switch (fold_of(call.text(4), call.op->name)) {
    case Fold::Prod:
      return scatter_by(call, [](auto there, auto element) { return formula::mul(there, element); });
    case Fold::Amax:
      return scatter_by(call, [](auto there, auto element) { return formula::maximum(there, element); });
    case Fold::Amin:
      return scatter_by(call, [](auto there, auto element) { return formula::minimum(there, element); });
  }
}

void embedding_grad(const Call& call) {
  const Tensor &grad = call.tensor(0), &out = call.outs[0];
  const int64_t rows = extent(out, 0), width = extent(out, 1);
  Indices indices(call.tensor(1), rows, "embedding_grad");
  if (call.has(3)) {
    const int64_t padding = call.integer(3) < 0 ? call.integer(3) + rows : call.integer(3);
    std::replace(indices.data(), indices.data() + indices.count(), padding, kSkipped);
  }
  const Dims sizes = {indices.count(), width};
  const ScatterGeometry g = geometry(sizes, {width, 1}, {width, 1}, {1, 0}, 0);
  with_compute_type(grad.dtype(), [&](auto zero) {
    using T = decltype(zero);
    DenseIn<T> values(grad);
    DenseOut<T> sums(out);
    std::fill_n(sums.data(), rows * width, T(0));
    take_lines(g, sums.data(), values.data(), std::as_const(indices).data(), kAdd);
    sums.finish();
  });
}

}  // namespace fuselet::cpu
