// Compares backward with central differences, and the backward of the backward likewise.
#pragma once
#include <functional>
#include <vector>

#include "core/tensor.h"

namespace fuselet {

struct GradcheckOptions {
  double step = 1e-6;  // of the difference quotient
  double atol = 1e-5;  // |analytic - numeric| <= atol + rtol * |numeric|
  double rtol = 1e-3;
};

using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

// `inputs` of dtype float64; those that require grad are checked. Throws Error with the input, the element and both
// values of the largest mismatch.
void gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs, GradcheckOptions options = {});
void gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs, GradcheckOptions options = {});

}  // namespace fuselet
