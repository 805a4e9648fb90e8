// Relatives of Adam: Adamax (Kingma and Ba 2015), NAdam (Dozat 2016), RAdam (Liu et al. 2020), Lion (Chen et al. 2023).
// Each keeps a mean of gradients, m = beta1 m + (1 - beta1) g; t counts steps from 1.
#pragma once
#include "frontend/cpp/optim/adam.h"
#include "frontend/cpp/optim/tensor_steps.h"

namespace fuselet::optim {

struct AdamaxOptions {
  double lr = 2e-3;
  Betas betas = {};
  double eps = 1e-8;
  double weight_decay = 0;  // added to the gradient, times the parameter
  bool maximize = false;
};

// u = max(beta2 u, |g| + eps); p -= lr m / ((1 - beta1^t) u)
class Adamax : public TensorOptimizer<AdamaxOptions> {
 public:
  explicit Adamax(std::vector<Tensor> parameters, AdamaxOptions options = {});
  explicit Adamax(std::vector<Group<AdamaxOptions>> groups);

 protected:
  void update(size_t index, const Lockstep& set) override;
};

struct NAdamOptions {
  double lr = 2e-3;
  Betas betas = {};
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay =
      false;  // weight decay shrinks the parameter by lr weight_decay, apart from the gradient
  bool maximize = false;
};

// With mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2) and M the product of mu_1 … mu_t:
// p -= lr ((1 - mu_t) g / (1 - M) + mu_{t+1} m / (1 - M mu_{t+1})) / (sqrt(v / (1 - beta2^t)) + eps)
class NAdam : public TensorOptimizer<NAdamOptions> {
 public:
  explicit NAdam(std::vector<Tensor> parameters, NAdamOptions options = {});
  explicit NAdam(std::vector<Group<NAdamOptions>> groups);

 protected:
  void update(size_t index, const Lockstep& set) override;
  SlotStart slot_start(size_t slot, const Tensor& parameter) const override;
};

struct RAdamOptions {
  double lr = 1e-3;
  Betas betas = {};
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay =
      false;  // weight decay shrinks the parameter by lr weight_decay, apart from the gradient
  bool maximize = false;
};

// With R = 2 / (1 - beta2) - 1 and r = R - 2 t beta2^t / (1 - beta2^t): p -= lr m / (1 - beta1^t), and once r > 5 also
// times sqrt(1 - beta2^t) / (sqrt(v) + eps) sqrt((r - 4) (r - 2) R / ((R - 4) (R - 2) r))
class RAdam : public TensorOptimizer<RAdamOptions> {
 public:
  explicit RAdam(std::vector<Tensor> parameters, RAdamOptions options = {});
  explicit RAdam(std::vector<Group<RAdamOptions>> groups);

 protected:
  void update(size_t index, const Lockstep& set) override;
};

struct LionOptions {
  double lr = 1e-4;
  Betas betas = {0.9, 0.99};
  double weight_decay = 0;
  bool maximize = false;
};

// p -= lr (sign(beta1 m + (1 - beta1) g) + weight_decay p), then m = beta2 m + (1 - beta2) g
class Lion : public TensorOptimizer<LionOptions> {
 public:
  explicit Lion(std::vector<Tensor> parameters, LionOptions options = {});
  explicit Lion(std::vector<Group<LionOptions>> groups);

 protected:
  void update(size_t index, const Lockstep& set) override;
};

}  // namespace fuselet::optim
