// In which dtype functions compute: 16-bit numbers and integers in float32, the rest in their own; results are rounded
// once, to the dtype of the input.
#pragma once
#include "core/ops/functions.h"

namespace fuselet::nn::functional {

inline Tensor widened(const Tensor& x) {
  return !is_float(x.dtype()) || size_of(x.dtype()) == 2 ? x.to(DType::Float32) : x;
}
// The result in the input's dtype, where that is floating.
inline Tensor rounded_as(const Tensor& result, const Tensor& input) {
  return is_float(input.dtype()) ? result.to(input.dtype()) : result;
}

}  // namespace fuselet::nn::functional
