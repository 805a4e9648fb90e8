#include "autograd/power_operands.h"

#include "core/ops/functions.h"

namespace fuselet {

namespace {

// A number as a tensor that is wide enough and where `like` is; undefined for a tensor.
Tensor number_as_tensor(const SavedOperand& operand, const Tensor& like) {
  const Scalar* number = operand.number();
  if (!number) return {};
  return full({}, *number, like.dtype() == DType::Float64 ? DType::Float64 : DType::Float32, like.device());
}

}  // namespace

SavedOperand exponent_below(const SavedOperand& exponent, const Tensor& like) {
  const Scalar* number = exponent.number();
  if (number && !number->cell()) {
    if (number->category() != Category::Float) return Scalar(number->to_int() == 0 ? 1 : number->to_int() - 1);
    return Scalar(number->to_double() == 0 ? 1.0 : number->to_double() - 1);
  }
  const Tensor wide = number_as_tensor(exponent, like);
  Operand operand = wide.defined() ? Operand(wide) : Operand(exponent);
  return where(operand == 0, 1, operand - 1);
}

Tensor base_of_log(const SavedOperand& base, const SavedOperand& exponent, const Tensor& like) {
  const Tensor wide = number_as_tensor(base, like);
  Operand operand = wide.defined() ? Operand(wide) : Operand(base);
  return where(logical_and(operand == 0, Operand(exponent) >= 0), 1, operand);
}

}  // namespace fuselet
