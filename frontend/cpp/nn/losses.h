// Losses as modules of two inputs; functions/losses.h has their formulas. Reductions: "mean", "sum", "none".
// Losses of three inputs are in margin_losses.h.
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

// A loss of an input and a target. Error for an unknown reduction, at once.
class Loss : public Module {
 public:
  Tensor operator()(const Tensor& input, const Tensor& target, Location line = Location::current());

 protected:
  Loss(std::string kind, std::string reduction);
  virtual Tensor value(const Tensor& input, const Tensor& target) const = 0;
  const std::string& reduction() const { return reduction_; }

 private:
  std::string reduction_;
};

struct CrossEntropyOptions {
  Tensor weight = {};  // of the classes, (C)
  std::string reduction = "mean";
  int64_t ignore_index = -100;  // targets that count for nothing
  double label_smoothing = 0;
};

// Logits (N, C) or (N, C, …) against int64 classes without C. The mean is over the targets that are not ignored.
class CrossEntropyLoss : public Loss {
 public:
  explicit CrossEntropyLoss(const CrossEntropyOptions& options = {});

 protected:
  Tensor value(const Tensor& input, const Tensor& target) const override;

 private:
  int64_t ignore_index_;
  double label_smoothing_;
};

struct NLLOptions {
  Tensor weight = {};  // of the classes, (C)
  std::string reduction = "mean";
  int64_t ignore_index = -100;  // targets that count for nothing
};

// Log probabilities (N, C) or (N, C, …) against int64 classes without C.
class NLLLoss : public Loss {
 public:
  explicit NLLLoss(const NLLOptions& options = {});

 protected:
  Tensor value(const Tensor& input, const Tensor& target) const override;

 private:
  int64_t ignore_index_;
};

// (input - target)²
class MSELoss : public Loss {
 public:
  explicit MSELoss(std::string reduction = "mean") : Loss("MSELoss", std::move(reduction)) {}

 protected:
  Tensor value(const Tensor& input, const Tensor& target) const override;
};

// |input - target|
class L1Loss : public Loss {
 public:
  explicit L1Loss(std::string reduction = "mean") : Loss("L1Loss", std::move(reduction)) {}

 protected:
  Tensor value(const Tensor& input, const Tensor& target) const override;
};

// d² / (2 beta) where d = |input - target| is below beta, else d - beta / 2
class SmoothL1Loss : public Loss {
 public:
  explicit SmoothL1Loss(std::string reduction = "mean", double beta = 1)
      : Loss("SmoothL1Loss", std::move(reduction)), beta_(beta) {}

 protected:
  Tensor value(const Tensor& input, const Tensor& target) const override;

 private:
  double beta_;
};

// d² / 2 where d = |input - target| is at most delta, else delta (d - delta / 2)
class HuberLoss : public Loss {
 public:
  explicit HuberLoss(std::string reduction = "mean", double delta = 1);

 protected:
  Tensor value(const Tensor& input, const Tensor& target) const override;

 private:
  double delta_;
};

struct BCEOptions {
  Tensor weight = {};  // of the elements, broadcast
  std::string reduction = "mean";
};

// Binary cross entropy of probabilities and targets in [0, 1]; the logarithm is at least -100.
class BCELoss : public Loss {
 public:
  explicit BCELoss(const BCEOptions& options = {});

 protected:
  Tensor value(const Tensor& input, const Tensor& target) const override;
};

struct BCEWithLogitsOptions {
  Tensor weight = {};  // of the elements, broadcast
  std::string reduction = "mean";
  Tensor pos_weight = {};  // of the positive targets, broadcast
};

// Binary cross entropy of logits and targets in [0, 1].
class BCEWithLogitsLoss : public Loss {
 public:
  explicit BCEWithLogitsLoss(const BCEWithLogitsOptions& options = {});

 protected:
  Tensor value(const Tensor& input, const Tensor& target) const override;
};

// target (log(target) - input), input being log probabilities; log_target: target too. "batchmean" is a reduction too.
class KLDivLoss : public Loss {
 public:
  explicit KLDivLoss(std::string reduction = "mean", bool log_target = false);

 protected:
  Tensor value(const Tensor& input, const Tensor& target) const override;

 private:
  bool is_batchmean_, log_target_;
};

}  // namespace fuselet::nn
