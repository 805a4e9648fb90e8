// VJPs of reductions.
#include "autograd/vjp.h"
#include "core/ops/functions.h"
#include "core/ops/reduced_dims.h"

namespace fuselet::vjp {
namespace {

// A reduced tensor with the reduced dimensions put back as size 1.
Tensor keep_dims(const Tensor& reduced, DimsView full_sizes, DimMask mask) {
  return reduced.view(sizes_without(full_sizes, mask, true));
}

// Ties share the gradient evenly.
void extremum(VjpContext& c) {
  Tensor self = c.tensor(0);
  DimMask mask = reduced_dims(c.ints(1), self.dim(), c.op().name);
  Tensor hit = (self == keep_dims(c.result(), self.sizes(), mask)).cast(c.meta(0).dtype);
  Dims dims;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (mask >> d & 1) dims.push_back(d);
  }
  Tensor share = dims.empty() ? hit : hit / hit.sum(dims, true);
  c.set(0, share * keep_dims(c.grad(), self.sizes(), mask));
}

}  // namespace

void sum(VjpContext& c) {
  const TensorMeta& m = c.meta(0);
  DimMask mask = reduced_dims(c.ints(1), static_cast<int64_t>(m.sizes.size()), "sum");
  c.set(0, keep_dims(c.grad(), m.sizes, mask).expand(m.sizes));
}

void mean(VjpContext& c) {
  const TensorMeta& m = c.meta(0);
  DimMask mask = reduced_dims(c.ints(1), static_cast<int64_t>(m.sizes.size()), "mean");
  c.set(0, (keep_dims(c.grad(), m.sizes, mask) / count_reduced(m.sizes, mask)).expand(m.sizes));
}

void amax(VjpContext& c) { extremum(c); }
void amin(VjpContext& c) { extremum(c); }

void var(VjpContext& c) {
  Tensor self = c.tensor(0);
  DimMask mask = reduced_dims(c.ints(1), self.dim(), "var");
  double divisor = std::max(count_reduced(self.sizes(), mask) - static_cast<double>(c.integer(2)), 0.0);
  Tensor centred = self - self.mean(c.ints(1), true);
  c.set(0, centred * keep_dims(c.grad(), self.sizes(), mask) * (2 / divisor));
}

}  // namespace fuselet::vjp
