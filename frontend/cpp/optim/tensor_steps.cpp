#include "frontend/cpp/optim/tensor_steps.h"

#include <cmath>

#include "core/ops/functions.h"

namespace fuselet::optim {

Tensor wide(const Tensor& t) { return size_of(t.dtype()) == 2 ? t.to(DType::Float32) : t; }

Tensor number(const CellPtr& cell, const Tensor& like) {
  return mul(ones({}, DType::Float64, like.device()), Scalar(cell));
}

Tensor power(double base, const Tensor& exponent) { return base > 0 ? exp(exponent * std::log(base)) : exponent * 0; }

Tensor direction(const Tensor& g, const Tensor& p, double weight_decay, bool maximize) {
  Tensor d = wide(maximize ? -g : g);
  return weight_decay != 0 ? d + wide(p) * weight_decay : d;
}

void shrink(Tensor p, double weight_decay, const CellPtr& lr) {
  if (weight_decay != 0) p.copy_(wide(p) - mul(wide(p) * weight_decay, Scalar(lr)));
}

Tensor take_in(Tensor average, const Tensor& value, double keep) {
  Tensor taken = wide(average) * keep + value * (1 - keep);
  average.copy_(taken);
  return taken;
}

}  // namespace fuselet::optim
