#include "frontend/cpp/optim/lr_plateau.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fuselet::optim {

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& options)
    : optimizer_(optimizer), options_(options), best_(std::numeric_limits<double>::infinity()) {
  FUSELET_CHECK(options.factor < 1 && options.factor >= 0, "ReduceLROnPlateau: factor must lie in [0, 1), got ",
                options.factor);
  FUSELET_CHECK(options.mode == "min" || options.mode == "max", "ReduceLROnPlateau: mode must be 'min' or 'max', got '",
                options.mode, "'");
  FUSELET_CHECK(options.threshold_mode == "rel" || options.threshold_mode == "abs",
                "ReduceLROnPlateau: threshold_mode must be 'rel' or 'abs', got '", options.threshold_mode, "'");
  if (options.mode == "max") best_ = -best_;
}

bool ReduceLROnPlateau::is_better(double metric) const {
  double margin = 0;
  if (std::isfinite(best_)) margin = options_.threshold * (options_.threshold_mode == "rel" ? best_ : 1);
  return options_.mode == "min" ? metric < best_ - margin : metric > best_ + margin;
}

void ReduceLROnPlateau::step(double metric) {
  if (is_better(metric)) {
    best_ = metric;
    bad_ = 0;
  } else {
    ++bad_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_ = 0;
  }
  if (bad_ <= options_.patience) return;
  cooldown_left_ = options_.cooldown;
  bad_ = 0;
  for (size_t g = 0; g < optimizer_.num_groups(); ++g) {
    const double now = optimizer_.lr(g), lower = std::max(now * options_.factor, options_.min_lr);
    if (now - lower > options_.eps) optimizer_.set_lr(lower, g);
  }
}

State ReduceLROnPlateau::state_dict() const {
  State state;
  state.set_double("best", best_);
  state.set_int("num_bad_epochs", bad_);
  state.set_int("cooldown_counter", cooldown_left_);
  return state;
}

void ReduceLROnPlateau::load_state_dict(const State& state) {
  const double best = state.get_double("best");
  const int64_t bad = state.get_int("num_bad_epochs"), left = state.get_int("cooldown_counter");
  best_ = best;
  bad_ = bad;
  cooldown_left_ = left;
}

}  // namespace fuselet::optim
