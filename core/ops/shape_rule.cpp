#include "core/ops/shape_rule.h"

#include "core/tensor.h"

namespace fuselet::shape {

void set_dense(TensorMeta* out, Dims sizes, DType dtype) {
  out->strides = contiguous_strides(sizes);
  out->sizes = std::move(sizes);
  out->dtype = dtype;
}

void check_same_dtype(const Call& call, const Tensor& a, const Tensor& b) {
  FUSELET_CHECK(a.dtype() == b.dtype(), call.op->name, ": expected tensors of one dtype, got ", name_of(a.dtype()),
                " and ", name_of(b.dtype()));
}

}  // namespace fuselet::shape
