#include "backends/cuda/scatter/view_scatters.h"

#include "backends/cuda/scatter/overlapping_view.h"
#include "backends/cuda/temporaries.h"
#include "core/error.h"
#include "core/ops/view_geometry.h"

namespace fuselet::cuda {
namespace {

// Every place from the first to the last element of (sizes, strides), as a line.
Tensor new_span(DimsView sizes, DimsView strides, DType dtype, Device device) {
  return new_tensor(Dims{span_of(sizes, strides)}, dtype, device);
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
  Tensor src = call.tensor(1);
  if (may_overlap(out, src)) {
    src = new_tensor(src.sizes(), src.dtype(), src.device());
    copy_into(src, call.tensor(1));
  }
  copy_into(out, call.tensor(0));
  const size_t dim = static_cast<size_t>(wrap_dim(call.integer(2), out.dim(), call.op->name));
  const SliceBounds bounds = slice_bounds(call, 3, out.sizes()[dim]);
  Dims strides(out.strides());
  const int64_t offset = bounds.start.word() * strides[dim].word();
  strides[dim] *= bounds.step;
  copy_into(view_of(out, Dims(src.sizes()), std::move(strides), offset), src);
}

void as_strided_scatter(const Call& call) {
  const Tensor& out = call.outs[0];
  const Tensor self = on_device(call.tensor(0), out.device()), src = on_device(call.tensor(1), out.device());
  const DimsView strides = call.ints(3);
  const Tensor whole = new_span(self.sizes(), self.strides(), self.dtype(), out.device());
  const Tensor shaped = view_of(whole, Dims(self.sizes()), Dims(self.strides()));
  const int64_t from = call.sym(4).word() - call.tensor(0).impl()->offset().word();
  if (src.numel() > 0) check_reach(call, from, src.sizes(), strides, whole.numel());
  copy_into(shaped, self);
  if (has_overlap(src.sizes(), strides)) {
    write_overlapping(whole, src, strides, from, Shared::LastWins);
  } else {
    copy_into(view_of(whole, Dims(src.sizes()), Dims(strides), from), src);
  }
  copy_into(out, shaped);
}

void as_strided_grad(const Call& call) {
  const Tensor &grad = call.tensor(0), &out = call.outs[0];
  const DimsView sizes = call.ints(1), self_strides = call.ints(2), strides = call.ints(3);
  const int64_t from = call.sym(4).word();
  const Tensor whole = new_span(sizes, self_strides, grad.dtype(), out.device());
  if (grad.numel() > 0) check_reach(call, from, grad.sizes(), strides, whole.numel());
  fill_zero(whole);
  if (has_overlap(grad.sizes(), strides)) {
    write_overlapping(whole, grad, strides, from, Shared::Sum);
  } else {
    copy_into(view_of(whole, Dims(grad.sizes()), Dims(strides), from), grad);
  }
  copy_into(out, view_of(whole, Dims(sizes), Dims(self_strides)));
}

}  // namespace fuselet::cuda
