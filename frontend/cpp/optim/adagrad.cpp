#include "frontend/cpp/optim/adagrad.h"

#include "core/ops/functions.h"

namespace fuselet::optim {

Adagrad::Adagrad(std::vector<Tensor> parameters, AdagradOptions options)
    : Adagrad(std::vector<Group<AdagradOptions>>{{std::move(parameters), options}}) {}

Adagrad::Adagrad(std::vector<Group<AdagradOptions>> groups) : Optimizer("Adagrad") {
  for (Group<AdagradOptions>& group : groups) {
    const AdagradOptions& o = group.options;
    FUSELET_CHECK(o.lr_decay >= 0 && o.eps >= 0 && o.weight_decay >= 0,
                  "Adagrad: lr_decay, eps and weight_decay must not be negative, got ", o.lr_decay, ", ", o.eps,
                  " and ", o.weight_decay);
    options_.push_back(o);
    add_group(std::move(group.parameters), o.lr, 1);
  }
}

void Adagrad::update(size_t index, const Lockstep& set) {
  const AdagradOptions& o = options_[index];
  // As 0-d tensors of the cells, so that a recording reads the cells anew on every run.
  Tensor one = ones({}, DType::Float64, set.parameters[0].device());
  Tensor t = mul(one, Scalar(set.step));
  Tensor rate = mul(one, Scalar(lr_cell(index))) / ((t - 1) * o.lr_decay + 1);
  for (size_t i = 0; i < set.parameters.size(); ++i) {
    Tensor p = set.parameters[i], total = set.slots[0][i];
    Tensor g = o.maximize ? -set.grads[i] : set.grads[i];
    if (o.weight_decay != 0) g = g + p * o.weight_decay;
    total.copy_(total + g * g);
    p.copy_(p - g / (sqrt(total) + o.eps) * rate);
  }
}

}  // namespace fuselet::optim
