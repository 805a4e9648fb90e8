#include "frontend/cpp/nn/margin_losses.h"

#include "frontend/cpp/nn/functional.h"

namespace fuselet::nn {

namespace F = functional;

MarginRankingLoss::MarginRankingLoss(double margin, std::string reduction)
    : Module("MarginRankingLoss"), margin_(margin), reduction_(std::move(reduction)) {
  F::check_reduction("MarginRankingLoss", reduction_);
}
Tensor MarginRankingLoss::operator()(const Tensor& input1, const Tensor& input2, const Tensor& target, Location line) {
  return F::margin_ranking_loss(input1, input2, target, margin_, reduction_, line);
}

CosineEmbeddingLoss::CosineEmbeddingLoss(double margin, std::string reduction)
    : Module("CosineEmbeddingLoss"), margin_(margin), reduction_(std::move(reduction)) {
  F::check_reduction("CosineEmbeddingLoss", reduction_);
}
Tensor CosineEmbeddingLoss::operator()(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                       Location line) {
  return F::cosine_embedding_loss(input1, input2, target, margin_, reduction_, line);
}

TripletMarginLoss::TripletMarginLoss(const TripletMarginOptions& options)
    : Module("TripletMarginLoss"), options_(options) {
  F::check_reduction("TripletMarginLoss", options_.reduction);
}
Tensor TripletMarginLoss::operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                     Location line) {
  const TripletMarginOptions& o = options_;
  return F::triplet_margin_loss(anchor, positive, negative, o.margin, o.p, o.eps, o.swap, o.reduction, line);
}

}  // namespace fuselet::nn
