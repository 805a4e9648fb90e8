// Losses as modules of two inputs. Reductions: "mean", "sum", "none".
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

struct CrossEntropyOptions {
  Tensor weight = {};  // of the classes, (C)
  std::string reduction = "mean";
  int64_t ignore_index = -100;  // targets that count for nothing
  double label_smoothing = 0;
};

// Logits (N, C) or (N, C, …) against int64 classes without C. The mean is over the targets that are not ignored.
class CrossEntropyLoss : public Module {
 public:
  explicit CrossEntropyLoss(CrossEntropyOptions options = {});
  Tensor operator()(const Tensor& input, const Tensor& target, Location line = Location::current());

 private:
  CrossEntropyOptions options_;
};

// Mean of (input - target)²; both of one shape, nothing broadcasts.
class MSELoss : public Module {
 public:
  explicit MSELoss(std::string reduction = "mean") : Module("MSELoss"), reduction_(std::move(reduction)) {}
  Tensor operator()(const Tensor& input, const Tensor& target, Location line = Location::current());

 private:
  std::string reduction_;
};

}  // namespace fuselet::nn
