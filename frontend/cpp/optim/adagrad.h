// Adagrad (Duchi et al. 2011): s += g²; p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps), t counting steps from 1.
#pragma once
#include "frontend/cpp/optim/optimizer.h"

namespace fuselet::optim {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;  // added to the gradient, times the parameter
  double eps = 1e-10;
  bool maximize = false;
};

class Adagrad : public Optimizer {
 public:
  explicit Adagrad(std::vector<Tensor> parameters, AdagradOptions options = {});
  explicit Adagrad(std::vector<Group<AdagradOptions>> groups);

 protected:
  void update(size_t index, const Lockstep& set) override;
  const char* slot_name(size_t) const override { return "sum"; }

 private:
  std::vector<AdagradOptions> options_;
};

}  // namespace fuselet::optim
