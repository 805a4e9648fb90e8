// ReduceLROnPlateau: rates that fall when a metric stops improving.
#pragma once
#include <string>

#include "frontend/cpp/optim/optimizer.h"

namespace fuselet::optim {

struct PlateauOptions {
  std::string mode = "min";            // or "max": which way the metric should go
  double factor = 0.1;                 // by which the rates are multiplied, below 1
  int64_t patience = 10;               // calls without improvement that are borne
  double threshold = 1e-4;             // by which a metric must be better to count
  std::string threshold_mode = "rel";  // relative to the best one, or "abs"
  int64_t cooldown = 0;                // calls after a fall that do not count
  double min_lr = 0;                   // below which no rate falls
  double eps = 1e-8;                   // a fall of no more than this is left out
};

// Refers to its optimizer, which must outlive it.
class ReduceLROnPlateau {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& options = {});
  // Takes in a metric; with more than `patience` calls without a better one, multiplies the rates by the factor.
  void step(double metric);
  double best() const { return best_; }
  int64_t num_bad_epochs() const { return bad_; }
  State state_dict() const;
  // The rates are the optimizer's state, not this one's.
  void load_state_dict(const State& state);

 private:
  bool is_better(double metric) const;

  Optimizer& optimizer_;
  PlateauOptions options_;
  double best_;
  int64_t bad_ = 0, cooldown_left_ = 0;
};

}  // namespace fuselet::optim
