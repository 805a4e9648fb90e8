#include "core/ops/index_tensors.h"

#include <algorithm>

#include "core/copy_across.h"
#include "core/element.h"
#include "core/ops/functions.h"
#include "core/ops/view_geometry.h"

namespace fuselet {
namespace {

// self with the indexed dimensions as neighbours, from `dim` on, and the one index into all of them together.
struct Plan {
  Tensor self;
  int64_t dim = 0, count = 0;
  Tensor index;  // of shape I

  // Sizes with `middle` in place of the indexed dimensions.
  Dims sizes_with(DimsView middle) const {
    Dims sizes(self.sizes().first(static_cast<size_t>(dim)));
    for (SymInt d : middle) sizes.push_back(d);
    for (SymInt d : self.sizes().subspan(static_cast<size_t>(dim + count))) sizes.push_back(d);
    return sizes;
  }
  SymInt indexed_elements() const {
    return numel_of(self.sizes().subspan(static_cast<size_t>(dim), static_cast<size_t>(count)));
  }
};

// Before any is used: the linear index of several would hide what is out of range, and a kernel does not know which
// dimension of the user's tensor it walks.
void check_range(const Tensor& given, int64_t size, int64_t dim) {
  if (given.impl()->is_deferred()) return;
  const Tensor index = on_host(given);
  for_each_offset(index.sizes(), index.strides(), [&](int64_t offset) {
    int64_t i = load_element_int(index.dtype(), index.raw_data(), offset);
    FUSELET_CHECK_INDEX(i >= -size && i < size, "indexing: index ", i, " is out of range for dimension ", dim,
                        " of size ", size);
  });
}

Tensor linear_index(const Tensor& self, const std::vector<Tensor>& indices, int64_t dim) {
  if (indices.size() == 1) return indices[0];
  Tensor linear;
  for (size_t k = 0; k < indices.size(); ++k) {
    const int64_t at = dim + static_cast<int64_t>(k), size = self.size(at);
    Tensor index = indices[k].dtype() == DType::Int64 ? indices[k] : indices[k].cast(DType::Int64);
    index = where(index < 0, index + size, index);
    linear = linear.defined() ? linear * size + index : index;
  }
  return linear;
}

Plan plan_of(const Tensor& self, const IndexTensors& given) {
  Plan plan;
  Dims indexed, others;
  std::vector<Tensor> indices;
  const bool several = std::count_if(given.begin(), given.end(), [](const Tensor& t) { return t.defined(); }) > 1;
  for (size_t d = 0; d < given.size(); ++d) {
    (given[d].defined() ? indexed : others).push_back(static_cast<int64_t>(d));
    if (!given[d].defined()) continue;
    // For one index tensor a device is not waited for: its kernel finds what is out of range.
    const int64_t dim = static_cast<int64_t>(d);
    if (several || !given[d].is_cuda()) check_range(given[d], self.size(dim), dim);
    indices.push_back(given[d].to(self.device()));
  }
  const int64_t first = indexed[0].word(), last = indexed.back().word();
  plan.count = static_cast<int64_t>(indices.size());
  const bool neighbours = last - first + 1 == plan.count;
  plan.dim = neighbours ? first : 0;
  plan.self = self;
  if (!neighbours) {
    for (SymInt d : others) indexed.push_back(d);
    plan.self = self.permute(indexed);
  }
  plan.index = linear_index(plan.self, indices, plan.dim);
  return plan;
}

// The indexed dimensions as one; a copy where the strides do not fold.
Tensor folded(const Plan& plan) {
  if (plan.count == 1) return plan.self;
  return plan.self.reshape(plan.sizes_with(Dims{plan.indexed_elements()}));
}

void write_rows(const Tensor& rows, const Plan& plan, const Tensor& source, bool accumulate) {
  const Tensor index = plan.index.reshape({-1});
  if (accumulate) {
    index_add_(rows, plan.dim, index, source);
  } else {
    index_copy_(rows, plan.dim, index, source);
  }
}

}  // namespace

Tensor read_at(const Tensor& self, const IndexTensors& indices) {
  const Plan plan = plan_of(self, indices);
  const Tensor picked = folded(plan).index_select(plan.dim, plan.index.reshape({-1}));
  return plan.index.dim() == 1 ? picked : picked.view(plan.sizes_with(plan.index.sizes()));
}

void write_at(const Tensor& self, const IndexTensors& indices, const Tensor& values, bool accumulate) {
  const Plan plan = plan_of(self, indices);
  Tensor source = values.to(self.device()).to(self.dtype());
  const Dims target = plan.sizes_with(plan.index.sizes());
  while (source.dim() > static_cast<int64_t>(target.size()) && source.sizes()[0] == 1) source = source.squeeze(0);
  source = source.expand(target).reshape(plan.sizes_with(Dims{plan.index.impl()->numel()}));
  const Dims rows = plan.sizes_with(Dims{plan.indexed_elements()});
  if (plan.count == 1) {
    write_rows(plan.self, plan, source, accumulate);
  } else if (view_strides(plan.self.sizes(), plan.self.strides(), rows)) {
    write_rows(plan.self.view(rows), plan, source, accumulate);
  } else {
    const Tensor copy = folded(plan);
    write_rows(copy, plan, source, accumulate);
    plan.self.copy_(copy.view(plan.self.sizes()));
  }
}

}  // namespace fuselet
