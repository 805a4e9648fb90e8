#include "frontend/cpp/optim/adam.h"

#include "core/ops/functions.h"

namespace fuselet::optim {
namespace {

AdamOptions shared_part(const AdamWOptions& o) { return {o.lr, o.betas, o.eps, o.weight_decay, o.maximize}; }

bool is_fraction(double beta) { return beta >= 0 && beta < 1; }

}  // namespace

void check_betas(const char* kind, const Betas& betas) {
  FUSELET_CHECK(is_fraction(betas.first) && is_fraction(betas.second), kind, ": betas must lie in [0, 1), got ",
                betas.first, " and ", betas.second);
}

void AdamFamily::add(std::vector<Tensor> parameters, const AdamOptions& o) {
  check_betas("Adam", o.betas);
  FUSELET_CHECK(o.eps >= 0 && o.weight_decay >= 0, "Adam: eps and weight_decay must not be negative, got ", o.eps,
                " and ", o.weight_decay);
  add_group(std::move(parameters), o.lr, 2);
  options_.push_back(o);
  beta1_.push_back(make_intrusive<HostCell>(o.betas.first, "beta1"));
  beta2_.push_back(make_intrusive<HostCell>(o.betas.second, "beta2"));
}

void AdamFamily::update(size_t index, const Lockstep& set) {
  const AdamOptions& o = options_[index];
  adam_step(set.parameters, set.grads, set.slots[0], set.slots[1], lr_cell(index), set.step, beta1_[index],
            beta2_[index], o.eps, o.weight_decay, decoupled_, o.maximize);
}

Adam::Adam(std::vector<Tensor> parameters, AdamOptions options) : AdamFamily("Adam", false) {
  add(std::move(parameters), options);
}
Adam::Adam(std::vector<Group<AdamOptions>> groups) : AdamFamily("Adam", false) {
  for (auto& group : groups) add(std::move(group.parameters), group.options);
}

AdamW::AdamW(std::vector<Tensor> parameters, AdamWOptions options) : AdamFamily("AdamW", true) {
  add(std::move(parameters), shared_part(options));
}
AdamW::AdamW(std::vector<Group<AdamWOptions>> groups) : AdamFamily("AdamW", true) {
  for (auto& group : groups) add(std::move(group.parameters), shared_part(group.options));
}

}  // namespace fuselet::optim
