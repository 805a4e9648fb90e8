#include "frontend/cpp/optim/sgd.h"

#include "core/ops/functions.h"

namespace fuselet::optim {

SGD::SGD(std::vector<Tensor> parameters, SGDOptions options)
    : SGD(std::vector<Group<SGDOptions>>{{std::move(parameters), options}}) {}

SGD::SGD(std::vector<Group<SGDOptions>> groups) : Optimizer("SGD") {
  for (Group<SGDOptions>& group : groups) {
    const SGDOptions& o = group.options;
    FUSELET_CHECK(o.momentum >= 0 && o.weight_decay >= 0, "SGD: momentum and weight_decay must not be negative, got ",
                  o.momentum, " and ", o.weight_decay);
    FUSELET_CHECK(!o.nesterov || (o.momentum > 0 && o.dampening == 0),
                  "SGD: nesterov needs momentum > 0 and dampening 0, got ", o.momentum, " and ", o.dampening);
    options_.push_back(o);
    add_group(std::move(group.parameters), o.lr, o.momentum != 0 ? 1 : 0);
  }
}

void SGD::update(size_t index, const Lockstep& set) {
  const SGDOptions& o = options_[index];
  sgd_step(set.parameters, set.grads, set.slots.empty() ? std::vector<Tensor>{} : set.slots[0], lr_cell(index),
           set.step, o.momentum, o.dampening, o.weight_decay, o.nesterov, o.maximize);
}

}  // namespace fuselet::optim
