// Losses against numbers from PyTorch 2.11.0 on the same inputs, where a comment does not derive them.
#include "autograd/gradcheck.h"
#include "tests/frontend/layer_values.h"

using namespace fuselet;
namespace F = fuselet::nn::functional;

namespace {

Tensor x() { return tensor({{0.5, -1.25, 2.0}, {0.1, 3.0, -0.75}}); }
Tensor t() { return tensor({{0.0, 1.0, 2.5}, {0.3, 1.0, -0.75}}); }
Tensor labels() { return tensor({{0.0, 1.0, 1.0}, {0.25, 1.0, 0.0}}); }
Tensor class_weights() { return tensor({1.0, 2.0, 3.0}); }

}  // namespace

TEST_CASE("losses of a distance") {
  check_close(F::l1_loss(x(), t()), {0.9083333});
  check_close(nn::L1Loss("sum")(x(), t()), {5.45});
  check_close(F::smooth_l1_loss(x(), t(), "mean", 0.5), {0.715});
  check_close(nn::SmoothL1Loss("none")(x(), t()), {0.125, 1.75, 0.125, 0.02, 1.5, 0});
  check_close(nn::SmoothL1Loss("mean", 0)(x(), t()), {0.9083333});
  check_close(F::huber_loss(x(), t(), "none", 1.5), {0.125, 2.25, 0.125, 0.02, 1.875, 0});
  check_close(nn::HuberLoss("sum", 0.5)(x(), t()), {2.145});
  // 300² overflows float16: a difference of 600 with delta 1 gives 599.5, which is rounded to 599.5 there.
  CHECK(F::huber_loss(full({2}, 300.0, kFloat16), full({2}, -300.0, kFloat16)).item() == 599.5);
}

TEST_CASE("nll_loss weighs classes and leaves out what is ignored") {
  Tensor logs = log_softmax(x(), 1), classes = tensor({2, 0});
  check_close(F::nll_loss(logs, classes), {1.6041156});
  check_close(nn::NLLLoss({.weight = class_weights()})(logs, classes), {0.9183688});
  check_close(nn::NLLLoss({.weight = class_weights()})(logs, tensor({2, -100})), {0.232622});
  check_close(nn::NLLLoss({.weight = class_weights(), .reduction = "none"})(logs, classes), {0.697866, 2.9756093});
  check_close(F::nll_loss(logs[0], tensor(2)), {0.232622});
  CHECK_THROWS_WITH_AS(F::nll_loss(logs, tensor({1, 2, 0})), doctest::Contains("targets without C, got [2, 3] and [3]"),
                       Error);
  CHECK_THROWS_AS(F::nll_loss(logs, tensor({3, 0})), Error);
  CHECK_THROWS_AS(F::nll_loss(logs, tensor({-1, 0})), Error);
  CHECK_THROWS_AS(F::nll_loss(logs, classes, ones({2})), Error);
}

TEST_CASE("binary cross entropy of probabilities and of logits") {
  check_close(F::binary_cross_entropy(sigmoid(x()), labels()), {0.6262982});
  check_close(nn::BCELoss({.weight = class_weights(), .reduction = "sum"})(sigmoid(x()), labels()), {6.3359032});
  check_close(nn::BCELoss()(tensor({0.0}), tensor({1.0})), {100});
  check_close(nn::BCEWithLogitsLoss()(x(), labels()), {0.6262981});
  nn::BCEWithLogitsLoss weighed({.pos_weight = class_weights()});
  check_close(weighed(x(), labels()), {0.9270269});
  CHECK(weighed.state_dict()[0].first == "pos_weight");
  check_close(F::binary_cross_entropy_with_logits(x(), labels(), class_weights(), "none", class_weights()),
              {0.974077, 6.0077162, 1.1423521, 0.7193967, 0.1943494, 1.1606129});
  // log(1 + exp(1000)) is 1000, and no overflow.
  check_close(F::binary_cross_entropy_with_logits(tensor({1000.0}), tensor({0.0})), {1000});
}

TEST_CASE("kl_div") {
  Tensor logs = log_softmax(x(), 1), shares = softmax(t(), 1);
  check_close(F::kl_div(logs, shares), {0.1045355});
  check_close(nn::KLDivLoss("batchmean")(logs, shares), {0.3136066});
  check_close(nn::KLDivLoss("sum", true)(logs, log(shares)), {0.6272132});
  check_close(F::kl_div(zeros({1}), zeros({1})), {0});
}

TEST_CASE("losses with a margin") {
  Tensor signs = tensor({1.0, -1.0});
  check_close(F::cosine_similarity(x(), t()), {0.5776713, 0.9032612});
  check_close(nn::CosineEmbeddingLoss(0.1, "none")(x(), t(), signs), {0.4223287, 0.8032612});
  check_close(nn::MarginRankingLoss(0.5, "none")(x()[0], t()[0], tensor({1.0, -1.0, 1.0})), {0, 0, 1});
  Tensor z = tensor({{1.0, 0.0, 0.5}, {0.0, 2.5, -0.5}});
  check_close(nn::TripletMarginLoss({.reduction = "none"})(x(), t(), z), {1.3429301, 2.4420843});
  check_close(F::triplet_margin_loss(x(), t(), z, 2, 1), {2.675});
  check_close(F::triplet_margin_loss(x(), t(), z, 2, 3), {2.992806});
  // Anchor 0, positive 3, negative 4: 1 + 3 - 4, or with the distance from 3 to 4 instead, 1 + 3 - 1.
  Tensor a = tensor({{0.0}}), b = tensor({{3.0}}), c = tensor({{4.0}});
  CHECK(F::triplet_margin_loss(a, b, c).item() == doctest::Approx(0));
  CHECK(nn::TripletMarginLoss({.swap = true})(a, b, c).item() == doctest::Approx(3));
}

TEST_CASE("losses refuse shapes, reductions and options that make no sense") {
  CHECK_THROWS_WITH_AS(F::l1_loss(x(), t()[0]),
                       "l1_loss: the inputs and the target must have one shape, got [2, 3] and [3]", Error);
  CHECK_THROWS_AS(F::kl_div(x(), t()[0]), Error);
  CHECK_THROWS_AS(F::margin_ranking_loss(x(), t(), ones({3})), Error);
  CHECK_THROWS_AS(F::cosine_embedding_loss(x(), t(), ones({3})), Error);
  CHECK_THROWS_WITH_AS(nn::L1Loss("average"), "L1Loss: reduction must be 'mean', 'sum' or 'none', got 'average'",
                       Error);
  CHECK_THROWS_AS(nn::TripletMarginLoss({.reduction = "max"}), Error);
  CHECK_THROWS_AS(F::smooth_l1_loss(x(), t(), "mean", -1), Error);
  CHECK_THROWS_AS(nn::HuberLoss("mean", 0), Error);
  CHECK_THROWS_AS(F::vector_norm(x(), 0.5), Error);
}

TEST_CASE("gradients of losses against finite differences") {
  auto check = [](auto f) {
    Tensor a = x().to(kFloat64).requires_grad_();
    gradcheck([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in[0])}; }, {a});
  };
  Tensor y = t().to(kFloat64), p = labels().to(kFloat64), w = class_weights().to(kFloat64);
  y = y + 0.01;  // no difference of 0, where |d| has a kink
  check([&](const Tensor& a) { return F::smooth_l1_loss(a, y); });
  check([&](const Tensor& a) { return F::huber_loss(a, y); });
  check([&](const Tensor& a) { return F::nll_loss(log_softmax(a, 1), tensor({2, -100}), w); });
  check([&](const Tensor& a) { return F::binary_cross_entropy(sigmoid(a), p, w); });
  check([&](const Tensor& a) { return F::binary_cross_entropy_with_logits(a, p, {}, "mean", w); });
  check([&](const Tensor& a) { return F::kl_div(log_softmax(a, 1), softmax(y, 1)); });
  check([&](const Tensor& a) { return F::cosine_embedding_loss(a, y, tensor({1.0, -1.0}, kFloat64), 0.1); });
  check([&](const Tensor& a) { return F::triplet_margin_loss(a, y, y * 2 + 0.3, 2, 3); });
  // The slope of the norm of a zero vector is 0.
  Tensor zero = zeros({2, 2}).requires_grad_();
  F::vector_norm(zero, 2, {1}).sum().backward();
  CHECK(zero.grad().to_vector() == std::vector<double>(4, 0));
}
