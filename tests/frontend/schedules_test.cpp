// Schedules that rise and fall, combine and react, against numbers from PyTorch 2.11.0, where no comment derives them.
#include "tests/frontend/layer_values.h"

using namespace fuselet;
using optim::Optimizer;

namespace {

// The rate before each of n scheduler steps, of a schedule that `make` makes for a rate of 1.
template <class Make>
std::vector<double> rates(Make make, size_t n) {
  Tensor p = tensor({0.0}).requires_grad_();
  optim::SGD sgd({p}, {.lr = 1});
  auto schedule = make(sgd);
  std::vector<double> out;
  for (size_t i = 0; i < n; ++i) {
    out.push_back(sgd.lr());
    schedule.step();
  }
  return out;
}

}  // namespace

TEST_CASE("ConstantLR") {
  check_near(rates([](Optimizer& o) { return optim::ConstantLR(o, 0.5, 2); }, 4), {0.5, 0.5, 1.0, 1.0});
  Tensor p = tensor({0.0}).requires_grad_();
  optim::SGD sgd({p});
  CHECK_THROWS_AS(optim::ConstantLR(sgd, 2), Error);
}

TEST_CASE("CyclicLR: triangles, halved ones, shrinking ones") {
  auto cyclic = [](double top, optim::CyclicOptions options) {
    return [=](Optimizer& o) { return optim::CyclicLR(o, 0.1, top, options); };
  };
  check_near(rates(cyclic(1, {.step_size_up = 2, .step_size_down = 3}), 11),
             {0.1, 0.55, 1.0, 0.7, 0.4, 0.1, 0.55, 1.0, 0.7, 0.4, 0.1});
  check_near(rates(cyclic(0.9, {.step_size_up = 2, .mode = "triangular2"}), 10),
             {0.1, 0.5, 0.9, 0.5, 0.1, 0.3, 0.5, 0.3, 0.1, 0.2});
  check_near(rates(cyclic(0.9, {.step_size_up = 2, .mode = "exp_range", .gamma = 0.9}), 6),
             {0.1, 0.46, 0.748, 0.3916, 0.1, 0.336196});
  CHECK_THROWS_AS(rates(cyclic(1, {.mode = "square"}), 1), Error);
}

TEST_CASE("OneCycleLR: by a cosine, and in three straight phases") {
  check_near(rates([](Optimizer& o) { return optim::OneCycleLR(o, 1, 10); }, 10),
             {0.04, 0.52, 1.0, 0.95048463, 0.81174565, 0.61126202, 0.38874198, 0.18825835, 0.04951937, 4e-06});
  const optim::OneCycleOptions straight = {
      .pct_start = 0.4, .anneal_strategy = "linear", .div_factor = 10, .final_div_factor = 100, .three_phase = true};
  check_near(rates([&](Optimizer& o) { return optim::OneCycleLR(o, 1, 10, straight); }, 10),
             {0.1, 0.4, 0.7, 1.0, 0.7, 0.4, 0.1, 0.067, 0.034, 0.001});
  CHECK_THROWS_WITH_AS(rates([](Optimizer& o) { return optim::OneCycleLR(o, 1, 3); }, 4), "OneCycleLR: step 4 of 3",
                       Error);
}

TEST_CASE("SequentialLR and ChainedScheduler") {
  auto sequence = [](Optimizer& o) {
    return optim::SequentialLR(o, {3, 5}, optim::LinearLR(o, 0.25, 1, 3), optim::ExponentialLR(o, 0.5),
                               optim::StepLR(o, 2, 0.1));
  };
  check_near(rates(sequence, 9), {0.25, 0.5, 0.75, 1.0, 0.5, 1.0, 1.0, 0.1, 0.1});
  auto chain = [](Optimizer& o) {
    return optim::ChainedScheduler(o, optim::ConstantLR(o, 0.1, 2), optim::ExponentialLR(o, 0.9));
  };
  check_near(rates(chain, 5), {0.1, 0.09, 0.81, 0.729, 0.6561});
  Tensor p = tensor({0.0}).requires_grad_();
  optim::SGD a({p}, {.lr = 1}), b({p}, {.lr = 1});
  CHECK_THROWS_AS(optim::SequentialLR(a, {3, 5}, optim::ExponentialLR(a, 0.5)), Error);
  CHECK_THROWS_AS(optim::ChainedScheduler(a, optim::ExponentialLR(b, 0.5)), Error);
  // Where it stands is a count of steps.
  auto first = sequence(a), second = sequence(b);
  for (int i = 0; i < 6; ++i) first.step();
  second.load_state_dict(first.state_dict());
  first.step(), second.step();
  CHECK(a.lr() == b.lr());
  CHECK(a.lr() == doctest::Approx(0.1));
}

TEST_CASE("ReduceLROnPlateau waits, reduces, and rests") {
  Tensor p = tensor({0.0}).requires_grad_();
  optim::SGD sgd({p}, {.lr = 1});
  optim::ReduceLROnPlateau plateau(sgd, {.factor = 0.5, .patience = 1, .cooldown = 1, .min_lr = 0.2});
  std::vector<double> seen;
  // Better, then two that are not: halved. One at rest, then two: halved again. Then two more after the next rest,
  // which would be 0.125: the least rate.
  for (double metric : {1.0, 1.0, 0.99999, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0}) {
    plateau.step(metric);
    seen.push_back(sgd.lr());
  }
  CHECK(seen == std::vector<double>{1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2});
  CHECK(plateau.best() == 1);
  optim::ReduceLROnPlateau other(sgd),
      rising(sgd, {.mode = "max", .patience = 0, .threshold = 0.5, .threshold_mode = "abs"});
  other.load_state_dict(plateau.state_dict());
  CHECK(other.best() == 1);
  rising.step(1);
  rising.step(1.6);
  CHECK(sgd.lr() == 0.2);
  rising.step(2);
  CHECK(sgd.lr() == doctest::Approx(0.02));
  CHECK_THROWS_AS(optim::ReduceLROnPlateau(sgd, {.factor = 1}), Error);
  CHECK_THROWS_AS(optim::ReduceLROnPlateau(sgd, {.mode = "best"}), Error);
}

TEST_CASE("what a schedule refuses changes neither its count nor the rates") {
  Tensor p = tensor({0.0}).requires_grad_();
  optim::SGD sgd({p}, {.lr = 0.5});
  CHECK_THROWS_AS(optim::CyclicLR(sgd, 0.1, 1, {.mode = "square"}), Error);
  CHECK_THROWS_AS(optim::OneCycleLR(sgd, 1, 0), Error);
  CHECK(sgd.lr() == 0.5);
  CHECK(sgd.initial_lr() == 0.5);
  optim::OneCycleLR cycle(sgd, 1, 2);
  CHECK(sgd.initial_lr() == doctest::Approx(0.04));
  cycle.step();
  cycle.step();
  const double last = sgd.lr();
  CHECK_THROWS_AS(cycle.step(), Error);
  CHECK(cycle.steps_taken() == 2);
  CHECK(sgd.lr() == last);
  State beyond = cycle.state_dict();
  beyond.set_int("steps", 5);
  CHECK_THROWS_AS(cycle.load_state_dict(beyond), Error);
  CHECK(cycle.steps_taken() == 2);
  CHECK(sgd.lr() == last);
}
