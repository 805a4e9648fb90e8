// layer_norm_forward and layer_norm_grad over rows of D elements, in the operations and the order of their
// decompositions.
#include <algorithm>
#include <utility>

#include "backends/cpu/dense.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/reduce.h"
#include "backends/cpu/rows.h"

namespace fuselet::cpu {
namespace {

constexpr int64_t kNormGrain = 16384;  // elements of a thread below which waking another one does not pay

template <class T>
void forward(const Call& call, int64_t rows, int64_t width) {
  DenseIn<T> x(call.tensor(0));
  DenseIn<T> weight = optional_in<T>(call, 2), bias = optional_in<T>(call, 3);
  DenseOut<T> out(call.outs[0]);
  T *means = static_cast<T*>(call.outs[1].impl()->data()), *rstds = static_cast<T*>(call.outs[2].impl()->data());
  const T eps = static_cast<T>(call.number(4)), count = static_cast<T>(width);
  parallel_for(rows, std::max<int64_t>(kNormGrain / std::max<int64_t>(width, 1), 1), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* from = x.data() + r * width;
      T* y = out.data() + r * width;
      const T mean = row_sum(from, width) / count;
      const T squares = reduce_row(
          width, T(0),
          [from, mean]<class V>(long long i) {
            const V centred = load_lanes<V>(from + i) - mean;
            return centred * centred;
          },
          Plus());
      const T rstd = T(1) / formula::sqrt(squares / count + eps);
      means[r] = mean;
      rstds[r] = rstd;
      const T *w = weight.data(), *b = bias.data();
      if (w && b) {
        map_row<T>(y, {from, w, b}, width, [=](auto v, auto wv, auto bv) { return (v - mean) * rstd * wv + bv; });
      } else if (w) {
        map_row<T>(y, {from, w}, width, [=](auto v, auto wv) { return (v - mean) * rstd * wv; });
      } else if (b) {
        map_row<T>(y, {from, b}, width, [=](auto v, auto bv) { return (v - mean) * rstd + bv; });
      } else {
        map_row<T>(y, {from}, width, [=](auto v) { return (v - mean) * rstd; });
      }
    }
  });
  out.finish();
}

// dx of one row; y and gw are rows of scratch.
template <class T>
void row_grad(T* dx, const T* g, const T* x, const T* w, T mean, T rstd, T* y, T* gw, int64_t width) {
  const T count = static_cast<T>(width);
  map_row<T>(y, {x}, width, [=](auto v) { return (v - mean) * rstd; });
  const T* scaled = g;
  if (w) {
    map_row<T>(gw, {g, w}, width, [](auto gv, auto wv) { return gv * wv; });
    scaled = gw;
  }
  const T a = row_sum(scaled, width) / count;
  const T b =
      reduce_row(
          width, T(0), [scaled, y]<class V>(long long i) { return load_lanes<V>(scaled + i) * load_lanes<V>(y + i); },
          Plus()) /
      count;
  map_row<T>(dx, {scaled, y}, width, [=](auto gv, auto yv) { return (gv - a - yv * b) * rstd; });
}

template <class T>
void backward(const Call& call, int64_t rows, int64_t width) {
  DenseIn<T> g(call.tensor(0)), x(call.tensor(1)), mean(call.tensor(2)), rstd(call.tensor(3));
  DenseIn<T> weight = optional_in<T>(call, 4);
  DenseOut<T> dx(call.outs[0]), dw(call.outs[1]), db(call.outs[2]);
  // Column sums as reduce_column takes them: leaves of rows, then an ordered tree over the leaves.
  const int64_t leaves = leaf_count(rows);
  Scratch parts(static_cast<size_t>(2 * leaves * width) * sizeof(T));
  T *weights = parts.as<T>(), *biases = weights + leaves * width;
  const int64_t leaf_work = std::max<int64_t>(width * kRowsPerLeaf, 1);
  parallel_for(leaves, std::max<int64_t>(kNormGrain / leaf_work, 1), [&](int64_t begin, int64_t end) {
    Scratch lines(static_cast<size_t>(2 * width) * sizeof(T));
    T *y = lines.as<T>(), *gw = y + width;
    for (int64_t leaf = begin; leaf < end; ++leaf) {
      T *sw = weights + leaf * width, *sb = biases + leaf * width;
      std::fill_n(sw, width, T(0));
      std::fill_n(sb, width, T(0));
      for (int64_t r = leaf * kRowsPerLeaf; r < std::min<int64_t>(rows, (leaf + 1) * kRowsPerLeaf); ++r) {
        const T* gr = g.data() + r * width;
        row_grad(dx.data() + r * width, gr, x.data() + r * width, weight.data(), mean.data()[r], rstd.data()[r], y, gw,
                 width);
        map_row<T>(sw, {sw, gr, y}, width, [](auto s, auto gv, auto yv) { return s + gv * yv; });
        map_row<T>(sb, {sb, gr}, width, [](auto s, auto gv) { return s + gv; });
      }
    }
  });
  for (auto [sums, out] : {std::pair{weights, dw.data()}, std::pair{biases, db.data()}}) {
    if (leaves > 0) combine_rows_in_order(sums, leaves, width, Plus());
    for (int64_t i = 0; i < width; ++i) out[i] = leaves > 0 ? sums[i] : T(0);
  }
  dx.finish();
  dw.finish();
  db.finish();
}

}  // namespace

void layer_norm_forward(const Call& call) {
  const int64_t width = numel_of(call.ints(1)).word(), rows = call.outs[1].numel();
  with_float_type(call.tensor(0).dtype(), [&](auto zero) { forward<decltype(zero)>(call, rows, width); });
}

void layer_norm_grad(const Call& call) {
  const int64_t width = numel_of(call.ints(5)).word(), rows = call.tensor(2).numel();
  with_float_type(call.tensor(1).dtype(), [&](auto zero) { backward<decltype(zero)>(call, rows, width); });
}

}  // namespace fuselet::cpu
