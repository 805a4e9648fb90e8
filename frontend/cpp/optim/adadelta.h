// Adadelta (Zeiler 2012): v = rho v + (1 - rho) g²; d = g sqrt(u + eps) / sqrt(v + eps); u = rho u + (1 - rho) d²;
// p -= lr d.
#pragma once
#include "frontend/cpp/optim/tensor_steps.h"

namespace fuselet::optim {

struct AdadeltaOptions {
  double lr = 1;
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0;  // added to the gradient, times the parameter
  bool maximize = false;
};

class Adadelta : public TensorOptimizer<AdadeltaOptions> {
 public:
  explicit Adadelta(std::vector<Tensor> parameters, AdadeltaOptions options = {});
  explicit Adadelta(std::vector<Group<AdadeltaOptions>> groups);

 protected:
  void update(size_t index, const Lockstep& set) override;
};

}  // namespace fuselet::optim
