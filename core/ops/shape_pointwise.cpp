// Shape rules of pointwise operators: broadcasting, type promotion, and the layout of the result.
// Promotion looks at three classes apart: tensors with dimensions, 0-d tensors, numbers. A weaker class decides only if
// its category is higher than that of the stronger ones.
#include "core/dispatch_state.h"
#include "core/ops/functions.h"
#include "core/ops/promotion.h"

namespace fuselet {

namespace {

struct ClassType {
  bool present = false;
  DType dtype = DType::Bool;
  void add(DType t) {
    dtype = present ? promote(dtype, t) : t;
    present = true;
  }
};

DType dtype_of_number(const Scalar& s) {
  return s.category() == Category::Float ? dispatch_state().default_dtype
         : s.category() == Category::Int ? DType::Int64
                                         : DType::Bool;
}

}  // namespace

DType promoted_dtype(const Call& call) {
  ClassType dimensioned, zero_dim, number;
  for (int i = call.op->promote_from; i < call.num_args; ++i) {
    if (call.is_tensor(i)) {
      const TensorImpl* t = call.tensor(i).impl();
      (t->sizes().empty() ? zero_dim : dimensioned).add(t->dtype());
    } else if (call.args[i].tag == Arg::Tag::Scalar) {
      number.add(dtype_of_number(call.scalar(i)));
    }
  }
  ClassType result = dimensioned;
  for (const ClassType& weaker : {zero_dim, number}) {
    if (!weaker.present) continue;
    if (!result.present) {
      result = weaker;
    } else if (category_of(weaker.dtype) > category_of(result.dtype)) {
      result.dtype = weaker.dtype;
    }
  }
  return result.dtype;
}

DType result_dtype(const Call& call, DType promoted) {
  switch (call.op->promotion) {
    case Promotion::Bool:
      return DType::Bool;
    case Promotion::Float:
      return is_float(promoted) ? promoted : dispatch_state().default_dtype;
    case Promotion::Same:
      return promoted;
    case Promotion::None:
      return call.tensor(0).dtype();
  }
  return promoted;
}

namespace shape {

void pointwise(const Call& call, TensorMeta* out) {
  const TensorImpl* shaped = nullptr;  // the first tensor that has the result's sizes
  bool same = true;
  for (int i = 0; i < call.num_args; ++i) {
    if (!call.is_tensor(i)) continue;
    const TensorImpl* t = call.tensor(i).impl();
    if (!shaped) {
      shaped = t;
      out->sizes = Dims(t->sizes());
    } else if (!same_sizes(out->sizes, t->sizes())) {
      same = false;
      out->sizes = broadcast_sizes(out->sizes, t->sizes(), call.op->name);
    }
  }
  const DType promoted = promoted_dtype(call);
  FUSELET_CHECK(!call.op->integers_only || !is_float(promoted), call.op->name, ": expected integers or bools, got ",
                name_of(promoted));
  out->dtype = result_dtype(call, promoted);
  if (shaped && same && shaped->is_contiguous()) {
    out->strides = contiguous_strides(out->sizes);
    return;
  }
  for (int i = 0; i < call.num_args; ++i) {
    if (call.is_tensor(i) && same_sizes(call.tensor(i).sizes(), out->sizes)) {
      out->strides = strides_like(out->sizes, call.tensor(i).sizes(), call.tensor(i).strides());
      return;
    }
  }
  out->strides = contiguous_strides(out->sizes);
}

void power(const Call& call, TensorMeta* out) {
  pointwise(call, out);
  if (is_float(out->dtype) || call.args[1].tag != Arg::Tag::Scalar) return;
  FUSELET_CHECK(call.scalar(1).to_double() >= 0, call.op->name, ": integers to the negative power ",
                call.scalar(1).to_int(), " are no integers: cast the base to a floating dtype first");
}

void clone(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  out->sizes = Dims(self.sizes());
  out->dtype = self.dtype();
  out->strides = call.flag(1) ? contiguous_strides(out->sizes) : strides_like(out->sizes, self.sizes(), self.strides());
}

void transfer(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  out->sizes = Dims(self.sizes());
  out->dtype = self.dtype();
  out->strides = strides_like(out->sizes, self.sizes(), self.strides());
}

void cast(const Call& call, TensorMeta* out) {
  const Tensor& self = call.tensor(0);
  out->sizes = Dims(self.sizes());
  out->dtype = call.args[1].dtype;
  out->strides = strides_like(out->sizes, self.sizes(), self.strides());
}

}  // namespace shape
}  // namespace fuselet
