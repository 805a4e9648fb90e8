// gather, index_select, embedding.
#include <atomic>
#include <cstring>

#include "backends/cpu/block_run.h"
#include "backends/cpu/element_size.h"
#include "backends/cpu/indices.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"

namespace fuselet::cpu {

Indices::Indices(const Tensor& index, int64_t size, const char* op)
    : count_(index.numel()), values_(static_cast<size_t>(count_) * sizeof(int64_t)) {
  gather_into(*index.impl(), values_.data(), DType::Int64);
  int64_t* values = data();
  for (int64_t i = 0; i < count_; ++i) {
    FUSELET_CHECK_INDEX(values[i] >= -size && values[i] < size, op, ": index ", values[i], " is out of range for size ",
                        size);
    if (values[i] < 0) values[i] += size;
  }
}

namespace {

// out[o][k][...] = self[o][index[k]][...]: rows of `row` bytes, of `size` rows a block.
void select_rows(const std::byte* self, std::byte* out, int64_t outer, int64_t size, int64_t row,
                 const Indices& index) {
  const int64_t count = index.count();
  parallel_for(outer * count, std::max<int64_t>(kPointwiseGrain / std::max<int64_t>(row, 1), 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   std::memcpy(out + i * row, self + (i / count * size + index.data()[i % count]) * row,
                               static_cast<size_t>(row));
                 }
               });
}

void select_along(const Call& call, const Tensor& self, size_t dim, const Indices& index) {
  const Tensor dense = self.is_contiguous() ? self : copy_of(self);
  int64_t outer = 1, row = static_cast<int64_t>(size_of(self.dtype()));
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (d < dim) outer *= self.sizes()[d].word();
    if (d > dim) row *= self.sizes()[d].word();
  }
  const TensorImpl* out = call.outs[0].impl();
  if (out->numel().word() == 0) return;
  select_rows(static_cast<const std::byte*>(dense.impl()->data()), static_cast<std::byte*>(out->data()), outer,
              extent(self, static_cast<int64_t>(dim)), row, index);
}

}  // namespace

void index_select(const Call& call) {
  const Tensor& self = call.tensor(0);
  const int64_t dim = wrap_dim(call.integer(1), self.dim(), "index_select");
  select_along(call, self, static_cast<size_t>(dim), Indices(call.tensor(2), extent(self, dim), "index_select"));
}

void embedding(const Call& call) {
  const Tensor& weight = call.tensor(0);
  select_along(call, weight, 0, Indices(call.tensor(1), extent(weight, 0), "embedding"));
}

void gather(const Call& call) {
  const Tensor &self = call.tensor(0), &out = call.outs[0];
  const int64_t dim = wrap_dim(call.integer(1), self.dim(), "gather");
  const Indices index(call.tensor(2), extent(self, dim), "gather");
  if (out.numel() == 0) return;
  // The gathered dimension moves by index, not by place.
  Dims strides(self.strides());
  int64_t step = 0;
  if (self.dim() > 0) {
    step = strides[static_cast<size_t>(dim)].word();
    strides[static_cast<size_t>(dim)] = 0;
  }
  Space space(out.sizes());
  space.add(out.sizes(), out.strides());
  space.add(out.sizes(), strides);
  space.simplify();
  with_element_size(size_of(self.dtype()), [&](auto zero) {
    using E = decltype(zero);
    const E* from = static_cast<const E*>(self.impl()->data());
    E* to = static_cast<E*>(out.impl()->data());
    const int64_t stride = space.strides[1].back();
    parallel_for(out.numel(), kPointwiseGrain, [&](int64_t begin, int64_t end) {
      space.for_each_run(1, space.unravel(begin), end - begin, [&](int64_t offset, int64_t n, int64_t done) {
        const int64_t* at = index.data() + begin + done;
        for (int64_t i = 0; i < n; ++i) to[begin + done + i] = from[offset + i * stride + at[i] * step];
      });
    });
  });
}

}  // namespace fuselet::cpu
