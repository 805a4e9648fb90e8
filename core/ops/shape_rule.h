// The statements that shape rules of several families are made of.
#pragma once
#include "core/op.h"

namespace fuselet::shape {

// The result is contiguous, whatever its inputs are.
void set_dense(TensorMeta* out, Dims sizes, DType dtype);
// Error naming the call's operator.
void check_same_dtype(const Call& call, const Tensor& a, const Tensor& b);

}  // namespace fuselet::shape
