// Losses as modules of three inputs, with a margin; functions/losses.h has their formulas.
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

// max(0, margin - target (input1 - input2)) for targets of -1 and 1
class MarginRankingLoss : public Module {
 public:
  explicit MarginRankingLoss(double margin = 0, std::string reduction = "mean");
  Tensor operator()(const Tensor& input1, const Tensor& input2, const Tensor& target,
                    Location line = Location::current());

 private:
  double margin_;
  std::string reduction_;
};

// 1 - cosine where target is 1, max(0, cosine - margin) where it is -1, of vectors (N, D) and targets (N)
class CosineEmbeddingLoss : public Module {
 public:
  explicit CosineEmbeddingLoss(double margin = 0, std::string reduction = "mean");
  Tensor operator()(const Tensor& input1, const Tensor& input2, const Tensor& target,
                    Location line = Location::current());

 private:
  double margin_;
  std::string reduction_;
};

struct TripletMarginOptions {
  double margin = 1;
  double p = 2;
  double eps = 1e-6;
  bool swap = false;  // the negative's distance is the smaller one of those to anchor and positive
  std::string reduction = "mean";
};

// max(0, margin + d(anchor, positive) - d(anchor, negative)), d being the p-norm of the difference
class TripletMarginLoss : public Module {
 public:
  explicit TripletMarginLoss(const TripletMarginOptions& options = {});
  Tensor operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                    Location line = Location::current());

 private:
  TripletMarginOptions options_;
};

}  // namespace fuselet::nn
