// VJPs of views: each is the linear map that puts the gradient back where the elements came from.
#include "autograd/memory_layout.h"
#include "autograd/vjp.h"
#include "core/ops/functions.h"

namespace fuselet::vjp {
namespace {

Tensor zeros_of(const TensorMeta& m) { return zeros(m.sizes, m.dtype, m.device); }

std::optional<SymInt> optional_sym(VjpContext& c, int i) {
  return c.has(i) ? std::optional<SymInt>(c.sym(i)) : std::nullopt;
}

}  // namespace

void view(VjpContext& c) { c.set(0, c.grad().reshape(c.meta(0).sizes)); }
void squeeze(VjpContext& c) { c.set(0, c.grad().reshape(c.meta(0).sizes)); }
void unsqueeze(VjpContext& c) {
  const TensorMeta& m = c.meta(0);
  c.set(0, c.grad().squeeze(wrap_dim(c.integer(1), static_cast<int64_t>(m.sizes.size()) + 1, "unsqueeze")));
}
void alias(VjpContext& c) { c.set(0, c.grad()); }
void transpose(VjpContext& c) { c.set(0, c.grad().transpose(c.integer(1), c.integer(2))); }
void expand(VjpContext& c) { c.set(0, c.grad().sum_to_size(c.meta(0).sizes)); }

void permute(VjpContext& c) {
  Dims dims = c.ints(1), inverse(dims.size(), 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    inverse[static_cast<size_t>(wrap_dim(dims[i].concrete(), static_cast<int64_t>(dims.size()), "permute"))] =
        static_cast<int64_t>(i);
  }
  c.set(0, c.grad().permute(inverse));
}

void slice(VjpContext& c) {
  c.set(0,
        slice_scatter(zeros_of(c.meta(0)), c.grad(), c.integer(1), optional_sym(c, 2), optional_sym(c, 3), c.sym(4)));
}

void select(VjpContext& c) { c.set(0, select_scatter(zeros_of(c.meta(0)), c.grad(), c.integer(1), c.sym(2))); }

void as_strided(VjpContext& c) {
  const TensorMeta& m = c.meta(0);
  FUSELET_CHECK(is_dense(m.sizes, m.strides), "as_strided: no gradient through a tensor with gaps in memory");
  c.set(0, as_strided_grad(c.grad(), m.sizes, m.strides, c.ints(2), c.sym(3) - m.offset));
}

void slice_scatter(VjpContext& c) {
  if (c.needs(0))
    c.set(0, fuselet::slice_scatter(c.grad(), zeros_of(c.meta(1)), c.integer(2), optional_sym(c, 3), optional_sym(c, 4),
                                    c.sym(5)));
  if (c.needs(1)) c.set(1, c.grad().slice(c.integer(2), optional_sym(c, 3), optional_sym(c, 4), c.sym(5)));
}

void select_scatter(VjpContext& c) {
  if (c.needs(0)) c.set(0, fuselet::select_scatter(c.grad(), zeros_of(c.meta(1)), c.integer(2), c.sym(3)));
  if (c.needs(1)) c.set(1, c.grad().select(c.integer(2), c.sym(3)));
}

void as_strided_scatter(VjpContext& c) {
  const TensorMeta& m = c.meta(0);
  FUSELET_CHECK(is_dense(m.sizes, m.strides), "as_strided_scatter: no gradient through a tensor with gaps in memory");
  Geometry self = {m.sizes, m.strides, m.offset};
  SymInt offset = c.sym(4) - m.offset;
  Tensor g = in_memory_order(c.grad(), self);
  if (c.needs(0)) {
    Tensor rest = fuselet::as_strided_scatter(g, zeros_of(c.meta(1)), c.ints(2), c.ints(3), offset);
    c.set(0, from_memory_order(rest, self));
  }
  if (c.needs(1)) c.set(1, g.as_strided(c.ints(2), c.ints(3), offset));
}

void as_strided_grad(VjpContext& c) {
  Tensor g = in_memory_order(c.grad(), {c.ints(1), c.ints(2), 0});
  c.set(0, g.as_strided(c.meta(0).sizes, c.ints(3), c.sym(4)));
}

}  // namespace fuselet::vjp
