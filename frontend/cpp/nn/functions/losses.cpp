#include "frontend/cpp/nn/functions/losses.h"

#include <initializer_list>

#include "frontend/cpp/nn/functions/distances.h"
#include "frontend/cpp/nn/functions/precision.h"

namespace fuselet::nn::functional {
namespace {

void check_one_shape(const char* name, std::initializer_list<const Tensor*> tensors) {
  const Tensor& first = **tensors.begin();
  for (const Tensor* t : tensors) {
    FUSELET_CHECK(same_sizes(first.sizes(), t->sizes()), name, ": the inputs and the target must have one shape, got ",
                  to_string(first.sizes()), " and ", to_string(t->sizes()));
  }
}

Tensor reduced(const char* name, const Tensor& values, const std::string& reduction, const Tensor& input) {
  check_reduction(name, reduction);
  return rounded_as(reduction == "mean" ? mean(values) : reduction == "sum" ? sum(values) : values, input);
}

Tensor weighted(const char* name, const Tensor& values, const Tensor& weight, const std::string& reduction,
                const Tensor& input) {
  return reduced(name, weight.defined() ? values * weight : values, reduction, input);
}

Tensor apart(const Tensor& input, const Tensor& target) { return abs(widened(input) - widened(target)); }

}  // namespace

void check_reduction(const char* name, const std::string& reduction) {
  FUSELET_CHECK(reduction == "mean" || reduction == "sum" || reduction == "none", name,
                ": reduction must be 'mean', 'sum' or 'none', got '", reduction, "'");
}

Tensor l1_loss(const Tensor& input, const Tensor& target, const std::string& reduction, Location line) {
  LineScope scope(&line);
  check_one_shape("l1_loss", {&input, &target});
  return reduced("l1_loss", apart(input, target), reduction, input);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const std::string& reduction, double beta,
                      Location line) {
  LineScope scope(&line);
  check_one_shape("smooth_l1_loss", {&input, &target});
  FUSELET_CHECK(beta >= 0, "smooth_l1_loss: beta must not be negative, got ", beta);
  Tensor d = apart(input, target);
  Tensor losses = beta == 0 ? d : where(d < beta, square(d) * (0.5 / beta), d - 0.5 * beta);
  return reduced("smooth_l1_loss", losses, reduction, input);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, const std::string& reduction, double delta,
                  Location line) {
  LineScope scope(&line);
  check_one_shape("huber_loss", {&input, &target});
  FUSELET_CHECK(delta > 0, "huber_loss: delta must be positive, got ", delta);
  Tensor d = apart(input, target);
  return reduced("huber_loss", where(d <= delta, square(d) * 0.5, (d - 0.5 * delta) * delta), reduction, input);
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight, const std::string& reduction,
                int64_t ignore_index, Location line) {
  LineScope scope(&line);
  check_reduction("nll_loss", reduction);
  const int64_t dim = input.dim() == 1 ? 0 : 1;
  Dims rows(input.sizes());
  if (!rows.empty()) rows.erase(static_cast<size_t>(dim));
  FUSELET_CHECK(input.dim() >= 1 && same_sizes(rows, target.sizes()),
                "nll_loss: expected log probabilities (N, C), (C) or (N, C, …) and targets without C, got ",
                to_string(input.sizes()), " and ", to_string(target.sizes()));
  FUSELET_CHECK(!weight.defined() || (weight.dim() == 1 && weight.size(0) == input.size(dim)),
                "nll_loss: expected a weight for each of ", input.size(dim), " classes, got shape ",
                weight.defined() ? to_string(weight.sizes()) : "");
  Tensor seen = target != ignore_index;
  // A negative class would count from the end.
  Tensor at = where(seen, where(target < 0, input.size(dim), target), 0);
  Tensor losses = -squeeze(gather(widened(input), dim, unsqueeze(at, dim)), dim);
  Tensor factors = seen.to(losses.dtype());
  if (weight.defined()) {
    factors = factors * index_select(weight.to(losses.dtype()), 0, at.reshape({-1})).reshape(at.sizes());
  }
  losses = where(seen, losses, 0.0) * factors;
  if (reduction == "mean") return rounded_as(sum(losses) / sum(factors), input);
  return reduced("nll_loss", losses, reduction, input);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            const std::string& reduction, Location line) {
  LineScope scope(&line);
  check_one_shape("binary_cross_entropy", {&input, &target});
  Tensor losses = binary_cross_entropy_terms(widened(input), widened(target));
  return weighted("binary_cross_entropy", losses, weight, reduction, input);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight,
                                        const std::string& reduction, const Tensor& pos_weight, Location line) {
  LineScope scope(&line);
  check_one_shape("binary_cross_entropy_with_logits", {&input, &target});
  Tensor losses = pos_weight.defined()
                      ? binary_cross_entropy_with_logits_terms(widened(input), widened(target), pos_weight)
                      : binary_cross_entropy_with_logits_terms(widened(input), widened(target), 1.0);
  return weighted("binary_cross_entropy_with_logits", losses, weight, reduction, input);
}

Tensor kl_div(const Tensor& input, const Tensor& target, const std::string& reduction, bool log_target, Location line) {
  LineScope scope(&line);
  check_one_shape("kl_div", {&input, &target});
  Tensor values = widened(input), wanted = widened(target);
  Tensor losses = log_target ? exp(wanted) * (wanted - values) : xlogy(wanted, wanted) - wanted * values;
  if (reduction != "batchmean") return reduced("kl_div", losses, reduction, input);
  FUSELET_CHECK(input.dim() >= 1, "kl_div: 'batchmean' needs a dimension of samples");
  return rounded_as(sum(losses) / input.size(0), input);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                           const std::string& reduction, Location line) {
  LineScope scope(&line);
  check_one_shape("margin_ranking_loss", {&input1, &input2, &target});
  Tensor losses = clamp_min(margin - widened(target) * (widened(input1) - widened(input2)), 0);
  return reduced("margin_ranking_loss", losses, reduction, input1);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                             const std::string& reduction, Location line) {
  LineScope scope(&line);
  DimsView sizes = input1.sizes();
  FUSELET_CHECK(
      !sizes.empty() && same_sizes(sizes, input2.sizes()) && same_sizes(sizes.first(sizes.size() - 1), target.sizes()),
      "cosine_embedding_loss: expected vectors (N, D) and targets (N), or (D) and (), got ", to_string(sizes), ", ",
      to_string(input2.sizes()), " and ", to_string(target.sizes()));
  Tensor cosine = cosine_similarity(widened(input1), widened(input2), -1);
  Tensor losses = where(target == 1, 1 - cosine, 0.0) + where(target == -1, clamp_min(cosine - margin, 0), 0.0);
  return reduced("cosine_embedding_loss", losses, reduction, input1);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin,
                           double p, double eps, bool swap, const std::string& reduction, Location line) {
  LineScope scope(&line);
  check_one_shape("triplet_margin_loss", {&anchor, &positive, &negative});
  Tensor a = widened(anchor), b = widened(positive), c = widened(negative);
  Tensor far = pairwise_distance(a, c, p, eps);
  if (swap) far = minimum(far, pairwise_distance(b, c, p, eps));
  Tensor losses = clamp_min(margin + pairwise_distance(a, b, p, eps) - far, 0);
  return reduced("triplet_margin_loss", losses, reduction, anchor);
}

}  // namespace fuselet::nn::functional
