#include "frontend/cpp/optim/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fuselet::optim {

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (size_t g = 0; g < optimizer.num_groups(); ++g) base_rates_.push_back(optimizer.initial_lr(g));
}

LRScheduler::LRScheduler(Optimizer& optimizer, double base)
    : optimizer_(optimizer), base_rates_(optimizer.num_groups(), base) {}

void LRScheduler::go_to(int64_t steps, std::vector<double> base_rates) {
  std::vector<double> rates;
  for (double base : base_rates) rates.push_back(rate(base, steps));
  steps_ = steps;
  base_rates_ = std::move(base_rates);
  for (size_t g = 0; g < rates.size(); ++g) optimizer_.set_lr(rates[g], g);
}

void LRScheduler::apply() { go_to(steps_, base_rates_); }

void LRScheduler::apply_own_base() {
  apply();
  for (size_t g = 0; g < base_rates_.size(); ++g) optimizer_.set_initial_lr(base_rates_[g], g);
}

void LRScheduler::step() { go_to(steps_ + 1, base_rates_); }

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
  go_to(steps, std::move(rates));
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

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : LRScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {}
double MultiStepLR::rate(double base, int64_t steps) const {
  auto passed = std::count_if(milestones_.begin(), milestones_.end(), [&](int64_t m) { return m <= steps; });
  return base * std::pow(gamma_, static_cast<double>(passed));
}

double ExponentialLR::rate(double base, int64_t steps) const {
  return base * std::pow(gamma_, static_cast<double>(steps));
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total)
    : LRScheduler(optimizer), factor_(factor), total_(total) {
  FUSELET_CHECK(factor >= 0 && factor <= 1 && total >= 0,
                "ConstantLR: the factor must lie in [0, 1] and total not be negative, got ", factor, " and ", total);
  apply();
}

LinearLR::LinearLR(Optimizer& optimizer, double start, double end, int64_t total)
    : LRScheduler(optimizer), start_(start), end_(end), total_(total) {
  FUSELET_CHECK(start > 0 && start <= 1 && end >= 0 && end <= 1 && total > 0,
                "LinearLR: the factors must lie in (0, 1] and [0, 1] and total be positive, got ", start, ", ", end,
                " and ", total);
  apply();
}
double LinearLR::rate(double base, int64_t steps) const {
  double part = static_cast<double>(std::min(steps, total_)) / static_cast<double>(total_);
  return base * (start_ + (end_ - start_) * part);
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total, double power)
    : LRScheduler(optimizer), total_(total), power_(power) {
  FUSELET_CHECK(total > 0, "PolynomialLR: total must be positive, got ", total);
}
double PolynomialLR::rate(double base, int64_t steps) const {
  double left = 1 - static_cast<double>(std::min(steps, total_)) / static_cast<double>(total_);
  return base * std::pow(left, power_);
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t t_0, int64_t t_mult,
                                                         double eta_min)
    : LRScheduler(optimizer), t_0_(t_0), t_mult_(t_mult), eta_min_(eta_min) {
  FUSELET_CHECK(t_0 > 0 && t_mult > 0, "CosineAnnealingWarmRestarts: t_0 and t_mult must be positive, got ", t_0,
                " and ", t_mult);
}
double CosineAnnealingWarmRestarts::rate(double base, int64_t steps) const {
  int64_t start = 0, length = t_0_;
  while (steps >= start + length) {
    start += length;
    length *= t_mult_;
  }
  double angle = std::numbers::pi * static_cast<double>(steps - start) / static_cast<double>(length);
  return eta_min_ + (base - eta_min_) * (1 + std::cos(angle)) / 2;
}

LambdaLR::LambdaLR(Optimizer& optimizer, std::function<double(int64_t)> factor)
    : LRScheduler(optimizer), factor_(std::move(factor)) {
  apply();
}

}  // namespace fuselet::optim
