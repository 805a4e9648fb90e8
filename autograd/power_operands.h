// Operands of the VJP of pow. Arithmetic among numbers alone makes a tensor of the default dtype, which would round
// what float64 needs; so numbers are computed with on the host.
#pragma once
#include "autograd/vjp.h"

namespace fuselet {

// exponent - 1, but 1 where the exponent is 0: there the factor before the power is 0 already. like: the gradient.
SavedOperand exponent_below(const SavedOperand& exponent, const Tensor& like);
// The base whose logarithm is taken: 1 where it is 0 and the exponent not negative. like: the gradient.
Tensor base_of_log(const SavedOperand& base, const SavedOperand& exponent, const Tensor& like);

}  // namespace fuselet
