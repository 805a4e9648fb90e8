// Optimizers against values computed by hand, their state, and learning rate schedules.
#include <cmath>
#include <limits>

#include "tests/frontend/layer_values.h"

using namespace fuselet;

namespace {

Tensor parameter(double value) { return tensor({value}).requires_grad_(); }

// One value after each gradient.
std::vector<double> trajectory(optim::Optimizer& optimizer, Tensor p, const std::vector<double>& grads) {
  std::vector<double> values;
  for (double g : grads) {
    p.set_grad(tensor({g}));
    optimizer.step();
    values.push_back(p.item());
  }
  return values;
}

}  // namespace

TEST_CASE("AdamW shrinks the parameter before the update") {
  Tensor p = parameter(1);
  optim::AdamW adamw({p}, {.lr = 0.1, .weight_decay = 0.1});
  check_near(trajectory(adamw, p, {0.5, -0.25}), {0.8900000, 0.8544663});
}

TEST_CASE("Adam's decay joins the gradient") {
  Tensor p = parameter(1);
  optim::Adam adam({p}, {.lr = 0.1, .weight_decay = 0.1});
  check_near(trajectory(adam, p, {0.5, -0.25}), {0.9000000, 0.8544414});
}

TEST_CASE("SGD: plain, decay, momentum, dampening, nesterov, maximize") {
  Tensor p = parameter(1);
  optim::SGD plain({p}, {.lr = 0.1});
  check_near(trajectory(plain, p, {1, 2}), {0.9, 0.7});
  p = parameter(1);
  optim::SGD decay({p}, {.lr = 0.1, .weight_decay = 0.5});
  check_near(trajectory(decay, p, {1, 0}), {0.85, 0.8075});  // 1 - 0.1 (1 + 0.5), then times 0.95
  p = parameter(1);
  optim::SGD momentum({p}, {.lr = 0.1, .momentum = 0.9});
  check_near(trajectory(momentum, p, {1, 1, 1}), {0.9, 0.71, 0.439});  // buffers 1, 1.9, 2.71
  p = parameter(1);
  optim::SGD dampened({p}, {.lr = 0.1, .momentum = 0.9, .dampening = 0.5});
  check_near(trajectory(dampened, p, {1, 1}), {0.9, 0.76});  // buffers 1, 1.4
  p = parameter(1);
  optim::SGD nesterov({p}, {.lr = 0.1, .momentum = 0.9, .nesterov = true});
  check_near(trajectory(nesterov, p, {1, 1}), {0.81, 0.539});  // directions 1.9, 1 + 0.9 * 1.9
  p = parameter(1);
  optim::SGD maximize({p}, {.lr = 0.1, .maximize = true});
  check_near(trajectory(maximize, p, {1}), {1.1});
}

TEST_CASE("RMSprop: plain, centered, momentum") {
  Tensor p = parameter(1);
  optim::RMSprop plain({p}, {.lr = 0.1, .alpha = 0.5, .eps = 0});
  // v = 2, then 1.5: steps 2 / sqrt(2) and 1 / sqrt(1.5)
  check_near(trajectory(plain, p, {2, 1}), {1 - 0.2 / std::sqrt(2.0), 1 - 0.2 / std::sqrt(2.0) - 0.1 / std::sqrt(1.5)});
  p = parameter(1);
  optim::RMSprop centered({p}, {.lr = 0.1, .alpha = 0.5, .eps = 0, .centered = true});
  check_near(trajectory(centered, p, {2}), {0.8});  // v - a² = 2 - 1
  p = parameter(1);
  optim::RMSprop momentum({p}, {.lr = 0.1, .alpha = 0.75, .eps = 0, .momentum = 0.5, .maximize = true});
  // v = 1, then 1.75: b = -2, then -1 - 2 / sqrt(1.75)
  check_near(trajectory(momentum, p, {2, 2}), {1.2, 1.2 + 0.1 + 0.2 / std::sqrt(1.75)});
  CHECK(momentum.state_dict().tensors.size() == 3);
  CHECK_THROWS_AS(optim::RMSprop({p}, {.alpha = 2}), Error);
}

TEST_CASE("Adagrad divides by the root of all squares and lets its rate decay") {
  Tensor p = parameter(1);
  optim::Adagrad adagrad({p}, {.lr = 0.1, .lr_decay = 1, .eps = 0});
  // s = 9, then 25: steps 0.1 · 3 / 3 and 0.05 · 4 / 5
  check_near(trajectory(adagrad, p, {3, 4}), {0.9, 0.86});
  Tensor q = parameter(0);
  optim::Adagrad other({q}, {.lr = 0.1, .lr_decay = 1, .eps = 0});
  other.load_state_dict(adagrad.state_dict());
  check_near(trajectory(other, q, {12}), {-0.1 / 3 * 12 / 13});
}

TEST_CASE("groups have options of their own") {
  Tensor a = parameter(1), b = parameter(1);
  optim::SGD sgd({{{a}, {.lr = 0.1}}, {{b}, {.lr = 0.5}}});
  a.set_grad(tensor({1.0}));
  b.set_grad(tensor({1.0}));
  sgd.step();
  CHECK(a.item() == doctest::Approx(0.9));
  CHECK(b.item() == doctest::Approx(0.5));
  sgd.set_lr(0.2, 1);
  CHECK(sgd.lr(0) == 0.1);
  CHECK(sgd.lr(1) == 0.2);
  sgd.zero_grad();
  CHECK_FALSE(a.grad().defined());
}

TEST_CASE("a parameter without gradient is skipped and keeps its own step count") {
  Tensor a = parameter(1), b = parameter(1), alone = parameter(1);
  optim::AdamW both({a, b}, {.lr = 0.1, .weight_decay = 0.1});
  optim::AdamW reference({alone}, {.lr = 0.1, .weight_decay = 0.1});
  for (double g : {0.5, -0.25, 1.0}) {
    a.set_grad(tensor({1.0}));
    b.set_grad(g == -0.25 ? Tensor() : tensor({g}));
    both.step();
    if (g != -0.25) {
      alone.set_grad(tensor({g}));
      reference.step();
    }
  }
  CHECK(both.steps_taken(a) == 3);
  CHECK(both.steps_taken(b) == 2);
  CHECK(b.item() == alone.item());
}

TEST_CASE("an optimizer refuses what it cannot optimize") {
  Tensor p = parameter(1);
  CHECK_THROWS_AS(optim::SGD(std::vector<Tensor>{}), Error);
  CHECK_THROWS_AS(optim::SGD({p, p}), Error);
  CHECK_THROWS_AS(optim::SGD(std::vector<Tensor>{p * 2}), Error);
  CHECK_THROWS_AS(optim::SGD({p}, {.lr = -1}), Error);
  CHECK_THROWS_AS(optim::SGD({p}, {.lr = 1, .nesterov = true}), Error);
  CHECK_THROWS_AS(optim::Adam({p}, {.betas = {0.9, 1.0}}), Error);
}

TEST_CASE("state goes from one optimizer to another, and is checked first") {
  Tensor a = parameter(1), b = parameter(1);
  optim::AdamW first({a}, {.lr = 0.1}), second({b}, {.lr = 0.3});
  trajectory(first, a, {0.5, -0.25});
  State state = first.state_dict();
  {
    NoGradGuard no_grad;
    b.copy_(a);
  }
  second.load_state_dict(state);
  CHECK(second.lr() == 0.1);
  CHECK(second.steps_taken(b) == 2);
  std::vector<double> onward = trajectory(first, a, {0.75, 0.1});
  CHECK(trajectory(second, b, {0.75, 0.1}) == onward);

  State broken = state;
  broken.tensors[1].second = zeros({3});
  CHECK_THROWS_WITH_AS(second.load_state_dict(broken), doctest::Contains("'0.exp_avg_sq' of shape [3]"), Error);
  broken = state;
  broken.tensors.pop_back();
  CHECK_THROWS_AS(second.load_state_dict(broken), Error);
  CHECK(second.steps_taken(b) == 4);
  optim::SGD sgd({b});
  CHECK_THROWS_WITH_AS(sgd.load_state_dict(state), "SGD: the state belongs to AdamW", Error);
  Tensor c = parameter(1);
  optim::AdamW two({b, c});
  CHECK_THROWS_AS(two.load_state_dict(state), Error);
}

TEST_CASE("loaded moments keep the dtype they were saved with") {
  Tensor p = parameter(1);
  optim::Adam adam({p});
  trajectory(adam, p, {0.5});
  State state = adam.state_dict();
  for (auto& [name, value] : state.tensors) value = value.cast(kFloat64);
  adam.load_state_dict(state);
  for (const auto& [name, value] : adam.state_dict().tensors) CHECK(value.dtype() == kFloat64);
}

TEST_CASE("gradients are clipped to a common norm") {
  Tensor a = zeros({1}).requires_grad_(), b = zeros({1}).requires_grad_(), without = zeros({1}).requires_grad_();
  auto reset = [&] {
    a.set_grad(tensor({3.0}));
    b.set_grad(tensor({-4.0}));
  };
  reset();
  CHECK(nn::utils::clip_grad_norm_({a, b, without}, 1).item() == doctest::Approx(5));
  CHECK(a.grad().item() == doctest::Approx(0.6));
  CHECK(b.grad().item() == doctest::Approx(-0.8));
  reset();
  CHECK(nn::utils::clip_grad_norm_({a, b}, 14, 1).item() == doctest::Approx(7));
  CHECK(a.grad().item() == 3);
  CHECK(nn::utils::clip_grad_norm_({a, b}, 2, std::numeric_limits<double>::infinity()).item() == doctest::Approx(4));
  CHECK(b.grad().item() == doctest::Approx(-2));
  CHECK(nn::utils::clip_grad_norm_({without}, 1).item() == 0);
}

TEST_CASE("gradient accumulation over parts equals one batch when each is divided by the whole count") {
  // Three tokens of loss w and one of loss 5 w at w = 1: mean 2, gradient 8/4.
  Tensor w = parameter(1);
  (w * tensor({1.0, 1.0, 1.0})).sum().div(4).backward();
  (w * tensor({5.0})).sum().div(4).backward();
  CHECK(w.grad().item() == 2);
}

TEST_CASE("schedules") {
  Tensor p = parameter(1);
  optim::SGD sgd({p}, {.lr = 0.8});
  optim::StepLR steps(sgd, 2, 0.5);
  std::vector<double> rates;
  for (int i = 0; i < 5; ++i) {
    rates.push_back(sgd.lr());
    steps.step();
  }
  CHECK(rates == std::vector<double>{0.8, 0.8, 0.4, 0.4, 0.2});

  optim::SGD other({p}, {.lr = 1});
  optim::CosineAnnealingLR cosine(other, 4, 0.2);
  rates.clear();
  for (int i = 0; i < 5; ++i) {
    rates.push_back(other.lr());
    cosine.step();
  }
  check_near(rates, {1, 0.6 + 0.4 * std::sqrt(0.5), 0.6, 0.6 - 0.4 * std::sqrt(0.5), 0.2});

  optim::SGD third({p}, {.lr = 2});
  optim::LambdaLR warmup(third, [](int64_t step) { return (static_cast<double>(step) + 1) / 4; });
  CHECK(third.lr() == 0.5);
  warmup.step();
  CHECK(third.lr() == 1);
}

TEST_CASE("schedules by formula") {
  auto rates = [](auto make, size_t n) {
    Tensor p = parameter(0);
    optim::SGD sgd({p}, {.lr = 1});
    auto schedule = make(sgd);
    std::vector<double> out;
    for (size_t i = 0; i < n; ++i) {
      out.push_back(sgd.lr());
      schedule.step();
    }
    return out;
  };
  using optim::Optimizer;
  check_near(rates([](Optimizer& o) { return optim::MultiStepLR(o, {1, 3, 3}, 0.5); }, 5), {1, 0.5, 0.5, 0.125, 0.125});
  check_near(rates([](Optimizer& o) { return optim::ExponentialLR(o, 0.5); }, 3), {1, 0.5, 0.25});
  check_near(rates([](Optimizer& o) { return optim::LinearLR(o, 0.5, 1, 2); }, 4), {0.5, 0.75, 1, 1});
  check_near(rates([](Optimizer& o) { return optim::PolynomialLR(o, 4, 2); }, 6), {1, 9.0 / 16, 0.25, 1.0 / 16, 0, 0});
  check_near(rates([](Optimizer& o) { return optim::CosineAnnealingWarmRestarts(o, 2, 2); }, 7),
             {1, 0.5, 1, (1 + std::sqrt(0.5)) / 2, 0.5, (1 - std::sqrt(0.5)) / 2, 1});
}

TEST_CASE("a schedule resumes from its state") {
  Tensor p = parameter(1);
  optim::SGD a({p}, {.lr = 1}), b({p}, {.lr = 9});
  optim::CosineAnnealingLR first(a, 10), second(b, 10);
  for (int i = 0; i < 3; ++i) first.step();
  second.load_state_dict(first.state_dict());
  CHECK(b.lr() == a.lr());
  first.step();
  second.step();
  CHECK(b.lr() == a.lr());
  CHECK(second.steps_taken() == 4);
}
