// RMSprop (Hinton 2012): v = alpha v + (1 - alpha) g²; p -= lr g / (sqrt(v) + eps). Centered, v less the square of the
// mean gradient; with momentum, b = momentum b + that quotient and p -= lr b.
#pragma once
#include "frontend/cpp/optim/optimizer.h"

namespace fuselet::optim {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;  // added to the gradient, times the parameter
  double momentum = 0;
  bool centered = false;
  bool maximize = false;
};

class RMSprop : public Optimizer {
 public:
  explicit RMSprop(std::vector<Tensor> parameters, RMSpropOptions options = {});
  explicit RMSprop(std::vector<Group<RMSpropOptions>> groups);

 protected:
  void update(size_t index, const Lockstep& set) override;
  const char* slot_name(size_t slot) const override;

 private:
  std::vector<RMSpropOptions> options_;
};

}  // namespace fuselet::optim
