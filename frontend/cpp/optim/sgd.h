// Stochastic gradient descent, with momentum (Polyak 1964) or its Nesterov form (Sutskever et al. 2013).
#pragma once
#include "frontend/cpp/optim/optimizer.h"

namespace fuselet::optim {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;  // buffer = momentum * buffer + (1 - dampening) * grad; the first step stores grad itself
  double dampening = 0;
  double weight_decay = 0;  // added to the gradient, times the parameter
  bool nesterov = false;    // needs momentum > 0 and no dampening
  bool maximize = false;
};

class SGD : public Optimizer {
 public:
  explicit SGD(std::vector<Tensor> parameters, SGDOptions options = {});
  explicit SGD(std::vector<Group<SGDOptions>> groups);

 protected:
  void update(size_t index, const Lockstep& set) override;
  const char* slot_name(size_t) const override { return "momentum_buffer"; }

 private:
  std::vector<SGDOptions> options_;
};

}  // namespace fuselet::optim
