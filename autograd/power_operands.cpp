#include "autograd/power_operands.h"

#include "core/ops/functions.h"

namespace fuselet {

SavedOperand exponent_below(const SavedOperand& exponent) {
  const Scalar* number = exponent.number();
  if (number && !number->cell()) {
    if (number->category() != Category::Float) return Scalar(number->to_int() == 0 ? 1 : number->to_int() - 1);
    return Scalar(number->to_double() == 0 ? 1.0 : number->to_double() - 1);
  }
  Operand operand = exponent;
  return where(operand == 0, 1, operand - 1);
}

Tensor base_of_log(const SavedOperand& base, const SavedOperand& exponent, const Tensor& like) {
  Tensor wide;
  if (const Scalar* number = base.number())
    wide = full({}, *number, like.dtype() == DType::Float64 ? DType::Float64 : DType::Float32, like.device());
  Operand operand = wide.defined() ? Operand(wide) : Operand(base);
  return where(logical_and(operand == 0, Operand(exponent) >= 0), 1, operand);
}

}  // namespace fuselet
