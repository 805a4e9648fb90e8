// Adadelta and the relatives of Adam against numbers from PyTorch 2.11.0 on the same gradients, where no comment
// derives them.
#include <memory>

#include "compiler/trace/record.h"
#include "tests/frontend/layer_values.h"

using namespace fuselet;

namespace {

// The parameter after each of seven steps from (1, -2).
template <class Optimizer, class Options>
std::vector<double> path(Options options, DType dtype = kFloat32) {
  Tensor p = tensor({1.0, -2.0}).to(dtype).requires_grad_();
  Optimizer optimizer({p}, options);
  std::vector<double> values;
  for (const Tensor& g : {tensor({0.5, -1.0}), tensor({-0.25, 2.0}), tensor({1.0, 0.5}), tensor({0.1, -0.3}),
                          tensor({-2.0, 0.7}), tensor({0.4, 0.6}), tensor({0.2, -0.9})}) {
    p.set_grad(g.to(dtype));
    optimizer.step();
    for (double v : p.to_vector()) values.push_back(v);
  }
  return values;
}

}  // namespace

TEST_CASE("Adadelta") {
  check_near(path<optim::Adadelta>(optim::AdadeltaOptions{.lr = 0.5, .rho = 0.8, .weight_decay = 0.1}),
             {0.998882, -1.9988819, 0.9993079, -2.0002401, 0.9978877, -2.0005598, 0.9975144, -2.0000217, 0.9992366,
              -2.0005803, 0.998606, -2.0010538, 0.9982095, -1.9999495});
}

TEST_CASE("Adamax") {
  check_near(path<optim::Adamax>(optim::AdamaxOptions{.lr = 0.1, .weight_decay = 0.1}),
             {0.9, -1.9, 0.8666333, -1.9212271, 0.8181195, -1.9409177, 0.7788081, -1.946943, 0.7864469, -1.9583393,
              0.7871416, -1.972097, 0.7849186, -1.9715511});
}

TEST_CASE("NAdam, with decay in the gradient and apart from it") {
  check_near(path<optim::NAdam>(optim::NAdamOptions{.lr = 0.1, .weight_decay = 0.1}),
             {0.8943548, -1.8943548, 0.9152889, -1.9779886, 0.8149643, -1.9959894, 0.7879263, -1.9720011, 0.8949779,
              -2.0029943, 0.8669864, -2.031642, 0.8481199, -1.969038});
  check_near(path<optim::NAdam>(optim::NAdamOptions{.lr = 0.1, .weight_decay = 0.1, .decoupled_weight_decay = true}),
             {0.8843548, -1.8743548, 0.9166223, -1.9462671, 0.8076459, -1.9549608, 0.7803278, -1.9246578, 0.8851987,
              -1.9486171, 0.8553373, -1.9711211, 0.835449, -1.9061047});
}

TEST_CASE("RAdam, before and after the variance is known") {
  check_near(path<optim::RAdam>(optim::RAdamOptions{.lr = 0.1, .weight_decay = 0.1}),
             {0.94, -1.88, 0.9197895, -1.9185263, 0.8667423, -1.9542071, 0.8236921, -1.9651065, 0.837982, -1.9856392,
              0.8380066, -1.9863076, 0.8378347, -1.9862715});
  check_near(path<optim::RAdam>(
                 optim::RAdamOptions{.lr = 0.1, .weight_decay = 0.1, .decoupled_weight_decay = true, .maximize = true}),
             {1.04, -2.0799999, 1.0401263, -2.0013053, 1.0732675, -1.9263108, 1.0963237, -1.8767772, 1.0620595,
              -1.8180373, 1.0511745, -1.7987314, 1.0405123, -1.7801378});
}

TEST_CASE("Lion goes by the sign alone") {
  Tensor p = tensor({1.0, -2.0}).requires_grad_();
  optim::Lion lion({p}, {.lr = 0.1, .betas = {0.5, 0.75}, .weight_decay = 0.5});
  p.set_grad(tensor({2.0, 0.0}));
  lion.step();  // shrunk to 0.95, -1.9; signs 1 and 0; m = (0.5, 0)
  check_near(p.to_vector(), {0.85, -1.9});
  p.set_grad(tensor({-0.25, 4.0}));
  lion.step();  // 0.8075, -1.805; 0.5 · 0.5 - 0.5 · 0.25 is positive still
  check_near(p.to_vector(), {0.7075, -1.905});
  check_near(lion.state_dict().tensors[0].second.to_vector(), {0.3125, 1});
}

TEST_CASE("16-bit parameters are updated in float32 and rounded once") {
  // (|g| + eps)² of 300 overflows float16 as a mean of squares; the step is lr g / sqrt(v) all the same.
  Tensor p = tensor({1.0}).to(kFloat16).requires_grad_();
  optim::Adadelta adadelta({p}, {.lr = 0.5, .rho = 0.0, .eps = 1.0});
  p.set_grad(tensor({300.0}).to(kFloat16));
  adadelta.step();  // d = 300 sqrt(1) / sqrt(90001)
  CHECK(p.item() == doctest::Approx(0.5).epsilon(1e-3));
  optim::RMSprop rms({p}, {.lr = 0.25, .alpha = 0, .eps = 0});
  rms.step();
  CHECK(p.item() == doctest::Approx(0.25).epsilon(1e-3));
}

TEST_CASE("state of the relatives goes from one optimizer to another") {
  Tensor a = tensor({1.0, 2.0}).requires_grad_(), b = tensor({1.0, 2.0}).requires_grad_();
  optim::NAdam first({a}, {.lr = 0.1}), second({b}, {.lr = 0.3});
  auto step = [](optim::NAdam& optimizer, Tensor p) {
    p.set_grad(tensor({0.5, -1.0}));
    optimizer.step();
  };
  step(first, a);
  step(first, a);
  {
    NoGradGuard no_grad;
    b.copy_(a);
  }
  second.load_state_dict(first.state_dict());
  CHECK(second.state_dict().tensors[2].first == "0.mu_product");
  CHECK(second.state_dict().tensors[2].second.dim() == 0);
  step(first, a);
  step(second, b);
  CHECK(a.to_vector() == b.to_vector());
  State broken = first.state_dict();
  broken.tensors[2].second = zeros({2});
  CHECK_THROWS_WITH_AS(second.load_state_dict(broken), doctest::Contains("'0.mu_product' of shape [2]"), Error);
  CHECK_THROWS_AS(optim::Lion({a}, {.betas = {0.9, 1}}), Error);
  CHECK_THROWS_AS(optim::NAdam({a}, {.momentum_decay = -1}), Error);
  CHECK_THROWS_AS(optim::Adadelta({a}, {.rho = 2}), Error);
}

TEST_CASE("a recorded step of each goes on as the eager one, also after a change of the learning rate") {
  auto check = [](auto make) {
    struct Run {
      Tensor p = tensor({1.0, -2.0, 0.5}).requires_grad_();
      std::unique_ptr<optim::Optimizer> optimizer;
      Tensor step() {
        optimizer->zero_grad();
        Tensor loss = (p * p * p).sum();
        loss.backward();
        optimizer->step();
        return loss;
      }
    };
    Run eager, recorded;
    eager.optimizer = make(eager.p), recorded.optimizer = make(recorded.p);
    auto step = record([&](const std::vector<Tensor>&) { return std::vector<Tensor>{recorded.step()}; }, {});
    eager.step();
    for (int i = 1; i < 8; ++i) {
      if (i == 4) eager.optimizer->set_lr(0.01), recorded.optimizer->set_lr(0.01);
      CHECK(step({})[0].item() == eager.step().item());
    }
    CHECK(recorded.p.to_vector() == eager.p.to_vector());
  };
  using Parameters = std::vector<Tensor>;
  check([](Tensor p) { return std::make_unique<optim::Adadelta>(Parameters{p}); });
  check([](Tensor p) { return std::make_unique<optim::Adamax>(Parameters{p}); });
  check([](Tensor p) { return std::make_unique<optim::NAdam>(Parameters{p}); });
  check([](Tensor p) { return std::make_unique<optim::RAdam>(Parameters{p}); });
  check([](Tensor p) { return std::make_unique<optim::Lion>(Parameters{p}); });
}
