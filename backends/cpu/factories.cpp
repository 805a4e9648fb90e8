// full, empty, arange.
#include <cstring>

#include "backends/cpu/block_run.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "core/element.h"
#include "core/ops/reduced_dims.h"

namespace fuselet::cpu {

void empty(const Call&) {}

void full(const Call& call) {
  const TensorImpl* out = call.outs[0].impl();
  const Scalar& value = call.scalar(1);
  const size_t element = size_of(out->dtype());
  alignas(8) std::byte bits[8];
  if (value.category() == Category::Float) {
    store_element(out->dtype(), bits, 0, value.to_double());
  } else {
    store_element_int(out->dtype(), bits, 0, value.to_int());
  }
  // A stride of 0 repeats the one element.
  const LoadBlock fill = load_block_raw(element);
  parallel_for(out->numel().word(), kPointwiseGrain, [&](int64_t begin, int64_t end) {
    fill(bits, 0, static_cast<std::byte*>(out->data()) + begin * static_cast<int64_t>(element), end - begin);
  });
}

namespace {

// value(i) for each element, in blocks.
template <class T, class F>
void fill_with(const TensorImpl& out, F&& value) {
  const StoreBlock store = store_block(kComputeType<T>, out.dtype());
  const int64_t element = static_cast<int64_t>(size_of(out.dtype()));
  parallel_for(out.numel().word(), kPointwiseGrain, [&](int64_t begin, int64_t end) {
    T block[kBlock];
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      for (int64_t i = 0; i < n; ++i) block[i] = value(at + i);
      store(block, static_cast<std::byte*>(out.data()) + at * element, 1, n);
    }
  });
}

}  // namespace

// Integers exactly; floats in double and rounded once.
void arange(const Call& call) {
  const TensorImpl& out = *call.outs[0].impl();
  const ArangeBounds bounds = arange_bounds(call);
  if (bounds.integral) {
    const int64_t start = call.has(1) ? call.scalar(0).to_int() : 0, step = call.scalar(2).to_int();
    fill_with<int64_t>(out, [=](int64_t i) { return start + i * step; });
  } else {
    fill_with<double>(out, [=](int64_t i) { return bounds.start + static_cast<double>(i) * bounds.step; });
  }
}

}  // namespace fuselet::cpu
