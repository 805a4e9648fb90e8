// Learning rates that rise and fall. They set the rates of all groups at construction; momentum stays as it is.
#pragma once
#include <string>

#include "frontend/cpp/optim/lr_scheduler.h"

namespace fuselet::optim {

struct CyclicOptions {
  int64_t step_size_up = 2000;
  std::optional<int64_t> step_size_down = std::nullopt;  // absent: step_size_up
  // "triangular"; "triangular2" halves the height every cycle; "exp_range" multiplies it by gamma^steps.
  std::string mode = "triangular";
  double gamma = 1;
};

// Between base_lr and max_lr, up in step_size_up and down in step_size_down steps (Smith 2017).
class CyclicLR : public LRScheduler {
 public:
  CyclicLR(Optimizer& optimizer, double base_lr, double max_lr, const CyclicOptions& options = {});

 protected:
  double rate(double base, int64_t steps) const override;

 private:
  double max_lr_;
  CyclicOptions options_;
};

struct OneCycleOptions {
  double pct_start = 0.3;               // the part of all steps in which the rate rises
  std::string anneal_strategy = "cos";  // or "linear"
  double div_factor = 25;               // the first rate is max_lr / div_factor
  double final_div_factor = 1e4;        // the last rate is the first one / final_div_factor
  bool three_phase = false;             // first down to the first rate in as many steps as it rose, then to the last
};

// From max_lr / div_factor up to max_lr in pct_start of total_steps, then down to the last rate (Smith and Topin 2018).
// The last of the rates is that of step total_steps - 1; an Error beyond total_steps.
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps, const OneCycleOptions& options = {});

 protected:
  double rate(double base, int64_t steps) const override;

 private:
  double between(double start, double end, double part) const;

  double max_lr_;
  int64_t total_steps_;
  OneCycleOptions options_;
};

}  // namespace fuselet::optim
