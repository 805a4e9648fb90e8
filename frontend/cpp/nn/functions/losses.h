// Losses as functions. Shapes must be equal where not said otherwise: nothing broadcasts, and an Error names what does
// not fit. `reduction` is "mean", "sum" or "none" (each element). Losses of 16-bit inputs are worked out in float32 and
// rounded once. cross_entropy and mse_loss are operators (core/ops/functions.h); distances are in distances.h.
#pragma once
#include <string>

#include "core/tensor.h"

namespace fuselet::nn::functional {

// Error unless it is "mean", "sum" or "none".
void check_reduction(const char* name, const std::string& reduction);

// |input - target|
Tensor l1_loss(const Tensor& input, const Tensor& target, const std::string& reduction = "mean",
               Location line = Location::current());
// d² / (2 beta) where d = |input - target| is below beta, else d - beta / 2. Error for a negative beta.
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const std::string& reduction = "mean", double beta = 1,
                      Location line = Location::current());
// d² / 2 where d = |input - target| is at most delta, else delta (d - delta / 2) (Huber 1964). Error unless delta is
// positive.
Tensor huber_loss(const Tensor& input, const Tensor& target, const std::string& reduction = "mean", double delta = 1,
                  Location line = Location::current());
// -input[target], weighted by class: input holds log probabilities (N, C), (C) or (N, C, …), target int64 classes of
// input's shape without C. Targets that are ignore_index count for nothing; the mean divides by the weights of the
// rest. Error for a class outside [0, C).
Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                const std::string& reduction = "mean", int64_t ignore_index = -100,
                Location line = Location::current());
// -target log(input) - (1 - target) log(1 - input) for probabilities, logarithms being at least -100; times weight,
// which broadcasts. NaN for an input outside [0, 1].
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                            const std::string& reduction = "mean", Location line = Location::current());
// -pos_weight target log(p) - (1 - target) log(1 - p) with p = sigmoid(input), from the side that does not overflow;
// times weight. weight and pos_weight broadcast.
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                                        const std::string& reduction = "mean", const Tensor& pos_weight = {},
                                        Location line = Location::current());
// target (log(target) - input), input being a log probability; with log_target, target is one too. A target of 0 gives
// 0. "batchmean" divides the sum by the size of dimension 0, which is the divergence; "mean" divides by all elements.
Tensor kl_div(const Tensor& input, const Tensor& target, const std::string& reduction = "mean", bool log_target = false,
              Location line = Location::current());
// max(0, margin - target (input1 - input2)) for targets of -1 and 1
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin = 0,
                           const std::string& reduction = "mean", Location line = Location::current());
// 1 - cosine where target is 1, max(0, cosine - margin) where it is -1, of vectors (N, D) or (D) and targets (N) or ().
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin = 0,
                             const std::string& reduction = "mean", Location line = Location::current());
// max(0, margin + distance(anchor, positive) - distance(anchor, negative)), the distances pairwise_distance's over the
// last dimension; with swap the negative's is the smaller one of those to anchor and positive (Balntas et al. 2016).
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin = 1,
                           double p = 2, double eps = 1e-6, bool swap = false, const std::string& reduction = "mean",
                           Location line = Location::current());

}  // namespace fuselet::nn::functional
