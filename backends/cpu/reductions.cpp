// sum, mean, amax, amin, var.
#include <limits>

#include "backends/cpu/dense.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/reduce.h"

namespace fuselet::cpu {

Reduction::Reduction(const TensorImpl& self, DimMask mask, ComputeType compute)
    : kept(DimsView{}),
      reduced(DimsView{}),
      data(static_cast<const std::byte*>(self.data())),
      element(static_cast<int64_t>(size_of(self.dtype()))),
      load(load_block(self.dtype(), compute)),
      as_it_lies(self.dtype() == storage_of(compute)) {
  const size_t rank = self.sizes().size();
  along_rows = rank == 0 || (mask >> (rank - 1) & 1);
  Dims sizes[2], strides[2];
  for (size_t d = 0; d < rank; ++d) {
    const bool folds = mask >> d & 1;
    sizes[folds].push_back(self.sizes()[d]);
    strides[folds].push_back(self.strides()[d]);
  }
  for (int folds : {0, 1}) {
    Space& space = folds ? reduced : kept;
    space = Space(sizes[folds]);
    space.add(sizes[folds], contiguous_strides(sizes[folds]));  // keeps row-major order
    space.add(sizes[folds], strides[folds]);
    space.simplify();
  }
  outputs = numel_of(sizes[0]).word();
  n = numel_of(sizes[1]).word();
}

namespace {

template <class T, bool Largest>
struct ExtremumPolicy {
  static constexpr bool kPrepares = false;
  T identity = std::is_same_v<T, int64_t>
                   ? static_cast<T>(Largest ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max())
                   : static_cast<T>(Largest ? -__builtin_inf() : __builtin_inf());
  struct {
    template <class V>
    V operator()(V a, V b) const {
      if constexpr (Largest)
        return formula::maximum(a, b);
      else
        return formula::minimum(a, b);
    }
  } combine;
};

template <class T>
struct SquaredDeviationPolicy : SumPolicy<T> {
  static constexpr bool kPrepares = true;
  const T* means;
  void prepare(T* block, int64_t n, int64_t first, int64_t step) const {
    for (int64_t k = 0; k < n; ++k) {
      const T centred = block[k] - means[first + k * step];
      block[k] = centred * centred;
    }
  }
};

DimMask mask_of(const Call& call) { return reduced_dims(call.ints(1), call.tensor(0).dim(), call.op->name); }

int64_t count_of(const Tensor& self, DimMask mask) {
  int64_t n = 1;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (mask >> d & 1) n *= self.sizes()[d].word();
  }
  return n;
}

template <class T>
void divide(T* values, int64_t n, T divisor) {
  for (int64_t i = 0; i < n; ++i) values[i] /= divisor;
}

template <bool Largest>
void extremum(const Call& call) {
  const Tensor self = along_the_grain(call.tensor(0));
  with_compute_type(self.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Reduction r(*self.impl(), mask_of(call), kComputeType<T>);
    ExtremumPolicy<T, Largest> policy;
    DenseOut<T> out(call.outs[0]);
    Reducer<T, ExtremumPolicy<T, Largest>>(r, policy).run(out.data());
    out.finish();
  });
}

}  // namespace

void sum(const Call& call) {
  Tensor self = along_the_grain(call.tensor(0));
  const DType to = call.outs[0].dtype();
  // What is summed is the elements as the result's dtype holds them.
  if (!is_float(to) && to != DType::Int64 && self.dtype() != to) {
    self = make_tensor(self.sizes(), to);
    copy_into(self, call.tensor(0));
  }
  with_compute_type(to, [&](auto zero) {
    using T = decltype(zero);
    DenseOut<T> out(call.outs[0]);
    reduce_sum<T>(*self.impl(), mask_of(call), out.data());
    out.finish();
  });
}

void mean(const Call& call) {
  const Tensor self = along_the_grain(call.tensor(0));
  const DimMask mask = mask_of(call);
  with_float_type(call.outs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    DenseOut<T> out(call.outs[0]);
    reduce_sum<T>(*self.impl(), mask, out.data());
    divide(out.data(), call.outs[0].numel(), static_cast<T>(count_of(self, mask)));
    out.finish();
  });
}

void amax(const Call& call) { extremum<true>(call); }
void amin(const Call& call) { extremum<false>(call); }

void var(const Call& call) {
  const Tensor self = along_the_grain(call.tensor(0));
  const DimMask mask = mask_of(call);
  const int64_t count = count_of(self, mask);
  with_float_type(self.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Reduction r(*self.impl(), mask, kComputeType<T>);
    DenseOut<T> out(call.outs[0]);
    Scratch means(static_cast<size_t>(r.outputs) * sizeof(T));
    SquaredDeviationPolicy<T> policy;
    policy.means = means.as<T>();
    Reducer<T, SumPolicy<T>>(r, policy).run(means.as<T>());
    divide(means.as<T>(), r.outputs, static_cast<T>(count));
    Reducer<T, SquaredDeviationPolicy<T>>(r, policy).run(out.data());
    divide(out.data(), r.outputs, static_cast<T>(std::max<int64_t>(count - call.integer(2), 0)));
    out.finish();
  });
}

}  // namespace fuselet::cpu
