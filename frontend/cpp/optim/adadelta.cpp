#include "frontend/cpp/optim/adadelta.h"

#include "core/ops/functions.h"

namespace fuselet::optim {

Adadelta::Adadelta(std::vector<Tensor> parameters, AdadeltaOptions options)
    : Adadelta(std::vector<Group<AdadeltaOptions>>{{std::move(parameters), options}}) {}

Adadelta::Adadelta(std::vector<Group<AdadeltaOptions>> groups)
    : TensorOptimizer("Adadelta", {"square_avg", "acc_delta"}) {
  for (Group<AdadeltaOptions>& group : groups) {
    const AdadeltaOptions& o = group.options;
    FUSELET_CHECK(o.rho >= 0 && o.rho <= 1 && o.eps >= 0 && o.weight_decay >= 0,
                  "Adadelta: rho must lie in [0, 1], eps and weight_decay must not be negative, got ", o.rho, ", ",
                  o.eps, " and ", o.weight_decay);
    add(std::move(group));
  }
}

void Adadelta::update(size_t index, const Lockstep& set) {
  const AdadeltaOptions& o = options(index);
  for (size_t i = 0; i < set.parameters.size(); ++i) {
    Tensor p = set.parameters[i], moved = set.slots[1][i];
    Tensor g = direction(set.grads[i], p, o.weight_decay, o.maximize);
    Tensor v = take_in(set.slots[0][i], g * g, o.rho);
    Tensor d = g * (sqrt(wide(moved) + o.eps) / sqrt(v + o.eps));
    take_in(moved, d * d, o.rho);
    p.copy_(wide(p) - mul(d, Scalar(lr_cell(index))));
  }
}

}  // namespace fuselet::optim
