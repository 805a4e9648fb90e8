#include "frontend/cpp/optim/adam_relatives.h"

#include "core/ops/functions.h"

namespace fuselet::optim {
namespace {

void check_decays(const char* kind, double eps, double weight_decay) {
  FUSELET_CHECK(eps >= 0 && weight_decay >= 0, kind, ": eps and weight_decay must not be negative, got ", eps, " and ",
                weight_decay);
}

// The gradient of one that may decay its parameter apart from it, in which case that happens here.
template <class Options>
Tensor decayed(const Options& o, const Tensor& p, const Tensor& g, const CellPtr& lr) {
  if (!o.decoupled_weight_decay) return direction(g, p, o.weight_decay, o.maximize);
  shrink(p, o.weight_decay, lr);
  return direction(g, p, 0, o.maximize);
}

}  // namespace

Adamax::Adamax(std::vector<Tensor> parameters, AdamaxOptions options)
    : Adamax(std::vector<Group<AdamaxOptions>>{{std::move(parameters), options}}) {}

Adamax::Adamax(std::vector<Group<AdamaxOptions>> groups) : TensorOptimizer("Adamax", {"exp_avg", "exp_inf"}) {
  for (Group<AdamaxOptions>& group : groups) {
    check_betas("Adamax", group.options.betas);
    check_decays("Adamax", group.options.eps, group.options.weight_decay);
    add(std::move(group));
  }
}

void Adamax::update(size_t index, const Lockstep& set) {
  const AdamaxOptions& o = options(index);
  const Tensor& like = set.parameters[0];
  Tensor rate = number(lr_cell(index), like) / (1 - power(o.betas.first, number(set.step, like)));
  for (size_t i = 0; i < set.parameters.size(); ++i) {
    Tensor p = set.parameters[i], largest = set.slots[1][i];
    Tensor g = direction(set.grads[i], p, o.weight_decay, o.maximize);
    Tensor m = take_in(set.slots[0][i], g, o.betas.first);
    Tensor u = maximum(wide(largest) * o.betas.second, abs(g) + o.eps);
    largest.copy_(u);
    p.copy_(wide(p) - m / u * rate);
  }
}

NAdam::NAdam(std::vector<Tensor> parameters, NAdamOptions options)
    : NAdam(std::vector<Group<NAdamOptions>>{{std::move(parameters), options}}) {}

NAdam::NAdam(std::vector<Group<NAdamOptions>> groups)
    : TensorOptimizer("NAdam", {"exp_avg", "exp_avg_sq", "mu_product"}) {
  for (Group<NAdamOptions>& group : groups) {
    check_betas("NAdam", group.options.betas);
    check_decays("NAdam", group.options.eps, group.options.weight_decay);
    FUSELET_CHECK(group.options.momentum_decay >= 0, "NAdam: momentum_decay must not be negative, got ",
                  group.options.momentum_decay);
    add(std::move(group));
  }
}

Optimizer::SlotStart NAdam::slot_start(size_t slot, const Tensor& parameter) const {
  return slot == 2 ? SlotStart{Dims{}, DType::Float64, 1} : Optimizer::slot_start(slot, parameter);
}

void NAdam::update(size_t index, const Lockstep& set) {
  const NAdamOptions& o = options(index);
  const Tensor& like = set.parameters[0];
  Tensor lr = number(lr_cell(index), like), t = number(set.step, like);
  auto mu_at = [&](const Tensor& step) { return o.betas.first * (1 - 0.5 * power(0.96, step * o.momentum_decay)); };
  Tensor mu = mu_at(t), following = mu_at(t + 1), correction = 1 - power(o.betas.second, t);
  for (size_t i = 0; i < set.parameters.size(); ++i) {
    Tensor p = set.parameters[i], product = set.slots[2][i];
    Tensor g = decayed(o, p, set.grads[i], lr_cell(index));
    product.copy_(product * mu);
    Tensor m = take_in(set.slots[0][i], g, o.betas.first), v = take_in(set.slots[1][i], g * g, o.betas.second);
    Tensor by_gradient = lr * (1 - mu) / (1 - product), by_mean = lr * following / (1 - product * following);
    p.copy_(wide(p) - (g * by_gradient + m * by_mean) / (sqrt(v / correction) + o.eps));
  }
}

RAdam::RAdam(std::vector<Tensor> parameters, RAdamOptions options)
    : RAdam(std::vector<Group<RAdamOptions>>{{std::move(parameters), options}}) {}

RAdam::RAdam(std::vector<Group<RAdamOptions>> groups) : TensorOptimizer("RAdam", {"exp_avg", "exp_avg_sq"}) {
  for (Group<RAdamOptions>& group : groups) {
    check_betas("RAdam", group.options.betas);
    check_decays("RAdam", group.options.eps, group.options.weight_decay);
    add(std::move(group));
  }
}

void RAdam::update(size_t index, const Lockstep& set) {
  const RAdamOptions& o = options(index);
  const Tensor& like = set.parameters[0];
  Tensor t = number(set.step, like), beta2_t = power(o.betas.second, t);
  Tensor rate = number(lr_cell(index), like) / (1 - power(o.betas.first, t));
  const double whole = 2 / (1 - o.betas.second) - 1;
  Tensor r = whole - 2 * t * beta2_t / (1 - beta2_t);
  Tensor known = r > 5, safe = where(known, r, 6.0);
  Tensor rectified = sqrt((safe - 4) * (safe - 2) * whole / ((whole - 4) * (whole - 2) * safe)) * sqrt(1 - beta2_t);
  for (size_t i = 0; i < set.parameters.size(); ++i) {
    Tensor p = set.parameters[i];
    Tensor g = decayed(o, p, set.grads[i], lr_cell(index));
    Tensor m = take_in(set.slots[0][i], g, o.betas.first), v = take_in(set.slots[1][i], g * g, o.betas.second);
    p.copy_(wide(p) - m * rate * where(known, rectified / (sqrt(v) + o.eps), 1.0));
  }
}

Lion::Lion(std::vector<Tensor> parameters, LionOptions options)
    : Lion(std::vector<Group<LionOptions>>{{std::move(parameters), options}}) {}

Lion::Lion(std::vector<Group<LionOptions>> groups) : TensorOptimizer("Lion", {"exp_avg"}) {
  for (Group<LionOptions>& group : groups) {
    check_betas("Lion", group.options.betas);
    check_decays("Lion", 0, group.options.weight_decay);
    add(std::move(group));
  }
}

void Lion::update(size_t index, const Lockstep& set) {
  const LionOptions& o = options(index);
  for (size_t i = 0; i < set.parameters.size(); ++i) {
    Tensor p = set.parameters[i], mean = set.slots[0][i];
    Tensor g = direction(set.grads[i], p, 0, o.maximize);
    shrink(p, o.weight_decay, lr_cell(index));
    Tensor sided = sign(wide(mean) * o.betas.first + g * (1 - o.betas.first));
    p.copy_(wide(p) - mul(sided, Scalar(lr_cell(index))));
    take_in(mean, g, o.betas.second);
  }
}

}  // namespace fuselet::optim
