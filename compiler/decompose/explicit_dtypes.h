// Makes the types that an operator calculates in explicit: what eager kernels do on loading and storing an element
// becomes casts around an operator of float32, float64 or int64.
//
//   %2: bf16 = mul(%0: bf16, %1: f32[])   ->   %2: f32 = cast(%0) boundary; %3: f32 = mul(%2, %1); cast(%3, bf16)
//   boundary
//
// Afterwards no consumer needs the rules of promotion:
//   pointwise     tensors of one dtype out of float32, float64, int64. bool stands only where all tensors of a
//   comparison
//                 or of a logical operator are bool (they count as 0 and 1), and as where's condition, which always is.
//                 Numbers keep their kind; they round to the dtype of the tensors, or of the result if there are none.
//                 cast and clone take and give any dtype.
//   reductions    float32, float64 or int64; sum without a dtype of its own
//   contractions, scatter_add, index_add, as_strided_grad: the same; a bias of conv2d is added afterwards
//   indices       int64
//   cat           parts of one dtype
#pragma once
#include "core/op.h"

namespace fuselet {

// While a graph is recorded: puts the result into call.outs, in the dtype that the call would have given, and returns
// true; false, and nothing recorded, if the call is as above already.
bool make_dtypes_explicit(Call& call);

}  // namespace fuselet
