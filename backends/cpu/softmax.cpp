// softmax, log_softmax and their gradients along one dimension.
//
// The tensor is dense (A, L, B) with L the dimension. If it is the last one: each row by itself, kept in cache. Else
// vectors of neighbouring columns go through the L rows together. Either way sums and maxima combine as the reductions
// of the decomposition do.
#include <algorithm>

#include "backends/cpu/dense.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/rows.h"

namespace fuselet::cpu {
namespace {

// Elements of a thread below which waking another one does not pay: an exponential an element.
constexpr int64_t kSoftmaxGrain = 8192;

struct Slices {
  int64_t outer = 1, length = 1, inner = 1;
  bool along_rows;  // as reductions see it: a last dimension of size 1 makes columns too
  Slices(const Tensor& t, int64_t dim_arg, const char* op) {
    const int64_t dim = wrap_dim(dim_arg, t.dim(), op);
    along_rows = dim == std::max<int64_t>(t.dim(), 1) - 1;
    for (int64_t d = 0; d < t.dim(); ++d) {
      (d < dim ? outer : d == dim ? length : inner) *= t.sizes()[static_cast<size_t>(d)].word();
    }
  }
};

// Each slice rule has row(y, a, b, n) and column<V>(n, load a, load b, store y).
struct Softmax {
  template <class T>
  static void row(T* y, const T* x, const T*, int64_t n) {
    const T top = row_max(x, n);
    map_row<T>(y, {x}, n, [top](auto v) { return formula::exp(v - top); });
    const T share = T(1) / row_sum(y, n);
    map_row<T>(y, {y}, n, [share](auto v) { return v * share; });
  }
  template <class V, class A, class B, class Y>
  static void column(int64_t n, A x, B, Y y) {
    const V top = reduce_column(
        n, formula::splat<V>(-__builtin_inf()), [&](long long i) { return x(i); }, Larger());
    for (int64_t i = 0; i < n; ++i) y.put(i, formula::exp(x(i) - top));
    const V sum = reduce_column(
        n, V{}, [&](long long i) { return y.get(i); }, Plus());
    const V share = 1 / sum;
    for (int64_t i = 0; i < n; ++i) y.put(i, y.get(i) * share);
  }
};

struct LogSoftmax {
  template <class T>
  static void row(T* y, const T* x, const T*, int64_t n) {
    const T top = row_max(x, n);
    const T sum = reduce_row(
        n, T(0), [x, top]<class V>(long long i) { return formula::exp(load_lanes<V>(x + i) - top); }, Plus());
    const T log_sum = formula::log(sum);
    map_row<T>(y, {x}, n, [top, log_sum](auto v) { return v - top - log_sum; });
  }
  template <class V, class A, class B, class Y>
  static void column(int64_t n, A x, B, Y y) {
    const V top = reduce_column(
        n, formula::splat<V>(-__builtin_inf()), [&](long long i) { return x(i); }, Larger());
    const V sum = reduce_column(
        n, V{}, [&](long long i) { return formula::exp(x(i) - top); }, Plus());
    const V log_sum = formula::log(sum);
    for (int64_t i = 0; i < n; ++i) y.put(i, x(i) - top - log_sum);
  }
};

struct SoftmaxGrad {
  template <class T>
  static void row(T* y, const T* g, const T* out, int64_t n) {
    const T sum = reduce_row(
        n, T(0), [g, out]<class V>(long long i) { return load_lanes<V>(g + i) * load_lanes<V>(out + i); }, Plus());
    map_row<T>(y, {g, out}, n, [sum](auto gv, auto v) { return v * (gv - sum); });
  }
  template <class V, class A, class B, class Y>
  static void column(int64_t n, A g, B out, Y y) {
    const V sum = reduce_column(
        n, V{}, [&](long long i) { return g(i) * out(i); }, Plus());
    for (int64_t i = 0; i < n; ++i) y.put(i, out(i) * (g(i) - sum));
  }
};

struct LogSoftmaxGrad {
  template <class T>
  static void row(T* y, const T* g, const T* out, int64_t n) {
    const T sum = row_sum(g, n);
    map_row<T>(y, {g, out}, n, [sum](auto gv, auto v) { return gv - formula::exp(v) * sum; });
  }
  template <class V, class A, class B, class Y>
  static void column(int64_t n, A g, B out, Y y) {
    const V sum = reduce_column(
        n, V{}, [&](long long i) { return g(i); }, Plus());
    for (int64_t i = 0; i < n; ++i) y.put(i, g(i) - formula::exp(out(i)) * sum);
  }
};

// `count` neighbouring columns of (L, B) as lanes; the others are zero.
template <class T, class V>
struct Columns {
  T* data;
  int64_t stride;
  size_t bytes;
  V get(int64_t i) const {
    V v{};
    std::memcpy(&v, data + i * stride, bytes);
    return v;
  }
  void put(int64_t i, V v) const { std::memcpy(data + i * stride, &v, bytes); }
};

template <class Rule, class T>
void run(const Slices& s, const T* a, const T* b, T* y) {
  if (s.outer * s.length * s.inner == 0) return;
  if (s.along_rows) {
    parallel_for(s.outer, std::max<int64_t>(kSoftmaxGrain / s.length, 1), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) Rule::row(y + r * s.length, a + r * s.length, b + r * s.length, s.length);
    });
    return;
  }
  using V = typename LanesOf<T>::Type;
  constexpr int64_t kLanes = formula::kLanes<V>;
  const int64_t strips = (s.inner + kLanes - 1) / kLanes;
  parallel_for(s.outer * strips, std::max<int64_t>(kSoftmaxGrain / (s.length * kLanes), 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t k = begin; k < end; ++k) {
                   const int64_t column = k % strips * kLanes, at = k / strips * s.length * s.inner + column;
                   const size_t bytes = static_cast<size_t>(std::min(kLanes, s.inner - column)) * sizeof(T);
                   Columns<const T, V> x{a + at, s.inner, bytes}, z{b + at, s.inner, bytes};
                   Rule::template column<V>(
                       s.length, [&](int64_t i) { return x.get(i); }, [&](int64_t i) { return z.get(i); },
                       Columns<T, V>{y + at, s.inner, bytes});
                 }
               });
}

template <class Rule>
void forward(const Call& call) {
  const Slices slices(call.tensor(0), call.integer(1), call.op->name);
  with_float_type(call.outs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    DenseIn<T> x(call.tensor(0));
    DenseOut<T> y(call.outs[0]);
    run<Rule, T>(slices, x.data(), x.data(), y.data());
    y.finish();
  });
}

template <class Rule>
void backward(const Call& call) {
  const Slices slices(call.tensor(0), call.integer(2), call.op->name);
  with_float_type(call.outs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    DenseIn<T> g(call.tensor(0)), out(call.tensor(1));
    DenseOut<T> y(call.outs[0]);
    run<Rule, T>(slices, g.data(), out.data(), y.data());
    y.finish();
  });
}

}  // namespace

void softmax(const Call& call) { forward<Softmax>(call); }
void log_softmax(const Call& call) { forward<LogSoftmax>(call); }
void softmax_grad(const Call& call) { backward<SoftmaxGrad>(call); }
void log_softmax_grad(const Call& call) { backward<LogSoftmaxGrad>(call); }

}  // namespace fuselet::cpu
