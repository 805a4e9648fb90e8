// A pointwise formula over dense blocks: what the generated pointwise_loops_*.cpp instantiate for each row of the
// table.
//
// block_loop applies Formula to whole vectors of the machine's width; what is left over is padded to one more vector,
// so that body and tail run the very same code and agree bit for bit.
#pragma once
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/formulas.h"
#include "core/op.h"

namespace fuselet::cpu {

// out may be one of the inputs; otherwise it must not overlap them.
using BlockLoop = void (*)(void* out, const void* const* in, int64_t n);

struct PointwiseLoops {
  int arity;
  BlockLoop by_type[3];  // by ComputeType; nullptr where the formula does not exist
};

const PointwiseLoops& loops_of(const Op& op);

template <class T>
struct LanesOf;
template <>
struct LanesOf<float> {
  using Type = formula::FloatLanes;
};
template <>
struct LanesOf<double> {
  using Type = formula::DoubleLanes;
};
template <>
struct LanesOf<int64_t> {
  using Type = formula::Int64Lanes;
};

template <class T, int N, class Formula>
void block_loop(void* out, const void* const* in, int64_t n) {
  using V = typename LanesOf<T>::Type;
  constexpr int kLanes = formula::kLanes<V>;
  T* y = static_cast<T*>(out);
  const T* x[N];
  for (int k = 0; k < N; ++k) x[k] = static_cast<const T*>(in[k]);
  auto apply = [](const V* v) {
    return [&]<size_t... K>(std::index_sequence<K...>) { return Formula::apply(v[K]...); }
    (std::make_index_sequence<N>());
  };

  V v[N];
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < N; ++k) std::memcpy(&v[k], x[k] + i, sizeof(V));
    V result = apply(v);
    std::memcpy(y + i, &result, sizeof(V));
  }
  if (i == n) return;
  const size_t bytes = static_cast<size_t>(n - i) * sizeof(T);
  for (int k = 0; k < N; ++k) {
    v[k] = V{} + T(1);  // what pads the vector must be cheap for every formula
    std::memcpy(&v[k], x[k] + i, bytes);
  }
  V result = apply(v);
  std::memcpy(y + i, &result, bytes);
}

}  // namespace fuselet::cpu
