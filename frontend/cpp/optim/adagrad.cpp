#include "frontend/cpp/optim/adagrad.h"

#include "core/ops/functions.h"
#include "frontend/cpp/optim/tensor_steps.h"

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
  const Tensor& like = set.parameters[0];
  Tensor rate = number(lr_cell(index), like) / ((number(set.step, like) - 1) * o.lr_decay + 1);
  for (size_t i = 0; i < set.parameters.size(); ++i) {
    Tensor p = set.parameters[i], total = set.slots[0][i];
    Tensor g = direction(set.grads[i], p, o.weight_decay, o.maximize);
    Tensor s = wide(total) + g * g;
    total.copy_(s);
    p.copy_(wide(p) - g / (sqrt(s) + o.eps) * rate);
  }
}

}  // namespace fuselet::optim
