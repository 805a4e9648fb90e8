// Adam (Kingma and Ba 2015), whose weight decay joins the gradient, and AdamW (Loshchilov and Hutter 2019), whose
// weight decay shrinks the parameter by lr * weight_decay before the update.
#pragma once
#include "frontend/cpp/optim/optimizer.h"

namespace fuselet::optim {

struct Betas {
  double first = 0.9, second = 0.999;
};

// Error unless both lie in [0, 1).
void check_betas(const char* kind, const Betas& betas);

struct AdamOptions {
  double lr = 1e-3;
  Betas betas = {};
  double eps = 1e-8;
  double weight_decay = 0;
  bool maximize = false;
};

struct AdamWOptions {
  double lr = 1e-3;
  Betas betas = {};
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool maximize = false;
};

// What both have in common.
class AdamFamily : public Optimizer {
 protected:
  AdamFamily(std::string kind, bool decoupled) : Optimizer(std::move(kind)), decoupled_(decoupled) {}
  void add(std::vector<Tensor> parameters, const AdamOptions& options);
  void update(size_t index, const Lockstep& set) override;
  const char* slot_name(size_t slot) const override { return slot == 0 ? "exp_avg" : "exp_avg_sq"; }
  std::vector<CellPtr> extra_cells(size_t group) const override { return {beta1_[group], beta2_[group]}; }

 private:
  bool decoupled_;
  std::vector<AdamOptions> options_;
  std::vector<CellPtr> beta1_, beta2_;
};

class Adam : public AdamFamily {
 public:
  explicit Adam(std::vector<Tensor> parameters, AdamOptions options = {});
  explicit Adam(std::vector<Group<AdamOptions>> groups);
};

class AdamW : public AdamFamily {
 public:
  explicit AdamW(std::vector<Tensor> parameters, AdamWOptions options = {});
  explicit AdamW(std::vector<Group<AdamWOptions>> groups);
};

}  // namespace fuselet::optim
