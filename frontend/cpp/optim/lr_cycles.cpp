#include "frontend/cpp/optim/lr_cycles.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fuselet::optim {

CyclicLR::CyclicLR(Optimizer& optimizer, double base_lr, double max_lr, const CyclicOptions& options)
    : LRScheduler(optimizer, base_lr), max_lr_(max_lr), options_(options) {
  FUSELET_CHECK(options.mode == "triangular" || options.mode == "triangular2" || options.mode == "exp_range",
                "CyclicLR: mode must be 'triangular', 'triangular2' or 'exp_range', got '", options.mode, "'");
  FUSELET_CHECK(options.step_size_up > 0 && options.step_size_down.value_or(1) > 0,
                "CyclicLR: step_size_up and step_size_down must be positive, got ", options.step_size_up, " and ",
                options.step_size_down.value_or(options.step_size_up));
  apply_own_base();
}

double CyclicLR::rate(double base, int64_t steps) const {
  const int64_t up = options_.step_size_up, whole = up + options_.step_size_down.value_or(up);
  const int64_t cycle = steps / whole, at = steps % whole;
  double height = at <= up ? static_cast<double>(at) / static_cast<double>(up)
                           : static_cast<double>(whole - at) / static_cast<double>(whole - up);
  if (options_.mode == "triangular2") height *= std::pow(0.5, static_cast<double>(cycle));
  if (options_.mode == "exp_range") height *= std::pow(options_.gamma, static_cast<double>(steps));
  return base + (max_lr_ - base) * height;
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps, const OneCycleOptions& options)
    : LRScheduler(optimizer, max_lr / options.div_factor),
      max_lr_(max_lr),
      total_steps_(total_steps),
      options_(options) {
  FUSELET_CHECK(total_steps > 0 && options.pct_start >= 0 && options.pct_start <= 1,
                "OneCycleLR: expected total_steps > 0 and pct_start in [0, 1], got ", total_steps, " and ",
                options.pct_start);
  FUSELET_CHECK(options.anneal_strategy == "cos" || options.anneal_strategy == "linear",
                "OneCycleLR: anneal_strategy must be 'cos' or 'linear', got '", options.anneal_strategy, "'");
  apply_own_base();
}

double OneCycleLR::between(double start, double end, double part) const {
  if (options_.anneal_strategy == "linear") return start + (end - start) * part;
  return end + (start - end) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

double OneCycleLR::rate(double base, int64_t steps) const {
  FUSELET_CHECK(steps <= total_steps_, "OneCycleLR: step ", steps, " of ", total_steps_);
  const double last = base / options_.final_div_factor, up = options_.pct_start * static_cast<double>(total_steps_) - 1;
  const auto step = static_cast<double>(steps), end = static_cast<double>(total_steps_ - 1);
  // The step after the last one keeps its rate.
  auto part = [&](double from, double to) { return to != from ? std::min(1.0, (step - from) / (to - from)) : 1.0; };
  if (step <= up) return between(base, max_lr_, part(0, up));
  if (!options_.three_phase) return between(max_lr_, last, part(up, end));
  return step <= 2 * up ? between(max_lr_, base, part(up, 2 * up)) : between(base, last, part(2 * up, end));
}

}  // namespace fuselet::optim
