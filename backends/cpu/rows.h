// Rows and columns of dense arrays, a vector at a time: what the fused kernels (softmax, norms, losses) are made of.
//
// Reductions follow core/reduction_tree.h. Elementwise functions see whole vectors; the last one of a row is padded.
#pragma once
#include <cstring>

#include "backends/cpu/pointwise_loop.h"
#include "core/reduction_tree.h"

namespace fuselet::cpu {

struct Plus {
  template <class V>
  V operator()(V a, V b) const {
    return a + b;
  }
};
struct Larger {
  template <class V>
  V operator()(V a, V b) const {
    return formula::maximum(a, b);
  }
};

template <class V, class T>
inline V load_lanes(const T* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

// The sum over i of term(V of elements i, i + 1, …); term is a generic lambda over (long long i, tag V).
template <class T>
T row_sum(const T* x, int64_t n) {
  return reduce_row(
      n, T(0), [x]<class V>(long long i) { return load_lanes<V>(x + i); }, Plus());
}
template <class T>
T row_max(const T* x, int64_t n) {
  return reduce_row(
      n, T(-__builtin_inf()), [x]<class V>(long long i) { return load_lanes<V>(x + i); }, Larger());
}

// y[i] = f(x[0][i], x[1][i], …); y may be one of the inputs.
template <class T, size_t N, class F>
void map_row(T* y, const T* const (&x)[N], int64_t n, F&& f) {
  using V = typename LanesOf<T>::Type;
  constexpr int64_t kLanes = formula::kLanes<V>;
  auto apply = [&](const V* v) {
    return [&]<size_t... K>(std::index_sequence<K...>) { return f(v[K]...); }
    (std::make_index_sequence<N>());
  };
  V v[N];
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t k = 0; k < N; ++k) v[k] = load_lanes<V>(x[k] + i);
    V result = apply(v);
    std::memcpy(y + i, &result, sizeof result);
  }
  if (i == n) return;
  const size_t bytes = static_cast<size_t>(n - i) * sizeof(T);
  for (size_t k = 0; k < N; ++k) {
    v[k] = V{};
    std::memcpy(&v[k], x[k] + i, bytes);
  }
  V result = apply(v);
  std::memcpy(y + i, &result, bytes);
}

}  // namespace fuselet::cpu
