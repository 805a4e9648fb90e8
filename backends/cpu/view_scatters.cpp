// slice_scatter, select_scatter, as_strided_scatter, as_strided_grad: a tensor with a view of it replaced, or added to.
#include <cstring>

#include "backends/cpu/dense.h"
#include "backends/cpu/kernels.h"
#include "core/element.h"
#include "core/ops/view_geometry.h"

namespace fuselet::cpu {
namespace {

Tensor view_of(const Tensor& base, Dims sizes, Dims strides, SymInt offset) {
  return Tensor(
      make_intrusive<TensorImpl>(base.impl()->storage(), std::move(sizes), std::move(strides), offset, base.dtype()));
}

// A fresh block of memory that holds every place from the first to the last element of (sizes, strides).
Tensor make_span(DimsView sizes, DimsView strides, DType dtype) {
  const size_t bytes = static_cast<size_t>(span_of(sizes, strides)) * size_of(dtype);
  return Tensor(
      make_intrusive<TensorImpl>(make_intrusive<Storage>(bytes, Device{}), Dims(sizes), Dims(strides), 0, dtype));
}

void check_reach(const Call& call, int64_t from, DimsView sizes, DimsView strides, int64_t held) {
  const int64_t end = from + span_of(sizes, strides);
  if (end == from) return;  // no elements
  FUSELET_CHECK(from >= 0 && end <= held, call.op->name, ": the view reaches elements ", from, " to ", end,
                " of a tensor that spans ", held);
}

}  // namespace

void slice_scatter(const Call& call) {
  const Tensor& out = call.outs[0];
  copy_into(out, call.tensor(0));
  const size_t dim = static_cast<size_t>(wrap_dim(call.integer(2), out.dim(), "slice_scatter"));
  const SliceBounds bounds = slice_bounds(call, 3, out.sizes()[dim]);
  Dims strides(out.strides());
  const SymInt offset = out.impl()->offset() + bounds.start * strides[dim];
  strides[dim] *= bounds.step;
  copy_into(view_of(out, Dims(call.tensor(1).sizes()), std::move(strides), offset), call.tensor(1));
}

void select_scatter(const Call& call) {
  const Tensor& out = call.outs[0];
  copy_into(out, call.tensor(0));
  const size_t dim = static_cast<size_t>(wrap_dim(call.integer(2), out.dim(), "select_scatter"));
  const SymInt index = wrap_index(call.sym(3), out.sizes()[dim], static_cast<int64_t>(dim), "select_scatter");
  Dims strides(out.strides());
  const SymInt offset = out.impl()->offset() + index * strides[dim];
  strides.erase(dim);
  copy_into(view_of(out, Dims(call.tensor(1).sizes()), std::move(strides), offset), call.tensor(1));
}

// The offset counts from the start of self's storage, as that of as_strided does.
void as_strided_scatter(const Call& call) {
  const Tensor &self = call.tensor(0), &src = call.tensor(1);
  Tensor whole = make_span(self.sizes(), self.strides(), self.dtype());
  const int64_t from = call.sym(4).word() - self.impl()->offset().word();
  if (src.numel() > 0) check_reach(call, from, call.ints(2), call.ints(3), span_of(self.sizes(), self.strides()));
  copy_into(whole, self);
  copy_into(view_of(whole, Dims(src.sizes()), Dims(call.ints(3)), from), src);
  copy_into(call.outs[0], whole);
}

// The offset counts from self's first element. Elements that share a place add up, in row-major order.
void as_strided_grad(const Call& call) {
  const Tensor& grad = call.tensor(0);
  const DimsView sizes = call.ints(1), strides = call.ints(2);
  const DType dtype = storage_of(compute_type_of(grad.dtype()));
  const int64_t held = span_of(sizes, strides), from = call.sym(4).word();
  Tensor whole = make_span(sizes, strides, dtype);
  if (held) std::memset(whole.impl()->data(), 0, static_cast<size_t>(held) * size_of(dtype));
  if (grad.numel() > 0) check_reach(call, from, grad.sizes(), call.ints(3), held);
  with_compute_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    DenseIn<T> values(grad);
    T* sums = static_cast<T*>(whole.impl()->data()) + from;
    int64_t i = 0;
    for_each_offset(grad.sizes(), call.ints(3), [&](int64_t offset) { sums[offset] += values.data()[i++]; });
  });
  copy_into(call.outs[0], whole);
}

}  // namespace fuselet::cpu
