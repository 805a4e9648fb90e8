// Learning rates as functions of the number of scheduler steps taken, applied to all groups of an optimizer.
// A scheduler refers to its optimizer, which must outlive it; base rates are those when the optimizer's first scheduler
// was made, so that schedules can be combined (lr_combined.h). Those of lr_cycles.h set base rates of their own, for
// schedules made after them too; lr_plateau.h has a further one.
#pragma once
#include <functional>

#include "frontend/cpp/optim/optimizer.h"

namespace fuselet::optim {

class LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler() = default;
  // Counts one step (an epoch, or whatever the caller steps by) and sets the rates; neither where a rate is an Error.
  void step();
  int64_t steps_taken() const { return steps_; }
  State state_dict() const;
  // Checked before anything changes; sets the optimizer's rates as well.
  void load_state_dict(const State& state);
  // The rate after `steps` steps of a group whose base rate is `base`.
  double rate_after(double base, int64_t steps) const { return rate(base, steps); }
  bool schedules(const Optimizer& optimizer) const { return &optimizer == &optimizer_; }

 protected:
  // With another base rate, for all groups: apply_own_base() at the end of construction gives it to the optimizer.
  LRScheduler(Optimizer& optimizer, double base);
  void apply_own_base();
  // Sets the rates for the steps taken so far.
  void apply();
  // The rate after `steps` steps, from the base rate.
  virtual double rate(double base, int64_t steps) const = 0;

 private:
  // Takes over the count and the base rates once all rates are known.
  void go_to(int64_t steps, std::vector<double> base_rates);

  Optimizer& optimizer_;
  std::vector<double> base_rates_;
  int64_t steps_ = 0;
};

// base * gamma^floor(steps / step_size)
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1);

 protected:
  double rate(double base, int64_t steps) const override;

 private:
  int64_t step_size_;
  double gamma_;
};

// eta_min + (base - eta_min) (1 + cos(pi steps / t_max)) / 2 (Loshchilov and Hutter 2017, without restarts)
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t t_max, double eta_min = 0);

 protected:
  double rate(double base, int64_t steps) const override;

 private:
  int64_t t_max_;
  double eta_min_;
};

// base * gamma^(the number of milestones up to `steps`)
class MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);

 protected:
  double rate(double base, int64_t steps) const override;

 private:
  std::vector<int64_t> milestones_;
  double gamma_;
};

// base * gamma^steps
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma) : LRScheduler(optimizer), gamma_(gamma) {}

 protected:
  double rate(double base, int64_t steps) const override;

 private:
  double gamma_;
};

// base * factor for `total` steps, then base; the factor is applied at construction.
class ConstantLR : public LRScheduler {
 public:
  ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total = 5);

 protected:
  double rate(double base, int64_t steps) const override { return steps < total_ ? base * factor_ : base; }

 private:
  double factor_;
  int64_t total_;
};

// base times a factor that goes from `start` to `end` in `total` steps; the start is applied at construction.
class LinearLR : public LRScheduler {
 public:
  LinearLR(Optimizer& optimizer, double start = 1.0 / 3, double end = 1, int64_t total = 5);

 protected:
  double rate(double base, int64_t steps) const override;

 private:
  double start_, end_;
  int64_t total_;
};

// base * (1 - steps / total)^power, 0 from `total` on
class PolynomialLR : public LRScheduler {
 public:
  PolynomialLR(Optimizer& optimizer, int64_t total = 5, double power = 1);

 protected:
  double rate(double base, int64_t steps) const override;

 private:
  int64_t total_;
  double power_;
};

// Half a cosine from base to eta_min in t_0 steps, then again in t_mult times as many, and so on (Loshchilov and Hutter
// 2017)
class CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t t_0, int64_t t_mult = 1, double eta_min = 0);

 protected:
  double rate(double base, int64_t steps) const override;

 private:
  int64_t t_0_, t_mult_;
  double eta_min_;
};

// base * factor(steps); the factor at 0 is applied at construction. The function itself is no part of the state.
class LambdaLR : public LRScheduler {
 public:
  LambdaLR(Optimizer& optimizer, std::function<double(int64_t)> factor);

 protected:
  double rate(double base, int64_t steps) const override { return base * factor_(steps); }

 private:
  std::function<double(int64_t)> factor_;
};

}  // namespace fuselet::optim
