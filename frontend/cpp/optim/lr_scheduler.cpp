#include "frontend/cpp/optim/lr_scheduler.h"

#include <cmath>
#include <numbers>

namespace fuselet::optim {

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (size_t g = 0; g < optimizer.num_groups(); ++g) base_rates_.push_back(optimizer.lr(g));
}

void LRScheduler::apply() {
  for (size_t g = 0; g < base_rates_.size(); ++g) optimizer_.set_lr(rate(base_rates_[g], steps_), g);
}

void LRScheduler::step() {
  ++steps_;
  apply();
}

State LRScheduler::state_dict() const {
  State state;
  state.set_int("steps", steps_);
  state.set_uint("groups", base_rates_.size());
  for (size_t g = 0; g < base_rates_.size(); ++g) state.set_double("base_lr." + std::to_string(g), base_rates_[g]);
  return state;
}

void LRScheduler::load_state_dict(const State& state) {
  int64_t steps = state.get_int("steps");
  FUSELET_CHECK(state.get_uint("groups") == base_rates_.size(), "LRScheduler: the state has ", state.get_uint("groups"),
                " groups, the optimizer ", base_rates_.size());
  std::vector<double> rates;
  for (size_t g = 0; g < base_rates_.size(); ++g) rates.push_back(state.get_double("base_lr." + std::to_string(g)));
  steps_ = steps;
  base_rates_ = std::move(rates);
  apply();
}

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  FUSELET_CHECK(step_size > 0, "StepLR: step_size must be positive, got ", step_size);
}
double StepLR::rate(double base, int64_t steps) const {
  return base * std::pow(gamma_, static_cast<double>(steps / step_size_));
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t t_max, double eta_min)
    : LRScheduler(optimizer), t_max_(t_max), eta_min_(eta_min) {
  FUSELET_CHECK(t_max > 0, "CosineAnnealingLR: t_max must be positive, got ", t_max);
}
double CosineAnnealingLR::rate(double base, int64_t steps) const {
  double angle = std::numbers::pi * static_cast<double>(steps) / static_cast<double>(t_max_);
  return eta_min_ + (base - eta_min_) * (1 + std::cos(angle)) / 2;
}

LambdaLR::LambdaLR(Optimizer& optimizer, std::function<double(int64_t)> factor)
    : LRScheduler(optimizer), factor_(std::move(factor)) {
  for (size_t g = 0; g < optimizer.num_groups(); ++g) optimizer.set_lr(rate(optimizer.lr(g), 0), g);
}

}  // namespace fuselet::optim
