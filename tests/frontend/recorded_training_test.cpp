// The frontend under a recording: whole training steps replay as they ran, and operators carry the user's lines.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <algorithm>

#include "compiler/trace/record.h"

using namespace fuselet;

namespace {

struct Training {
  nn::Sequential model = nn::Sequential(nn::Linear(3, 5), nn::Tanh(), nn::Linear(5, 2));
  optim::AdamW optimizer = optim::AdamW(model.parameters(), {.lr = 0.05});
  Tensor x = tensor({{0.5, -1.0, 2.0}, {1.0, 0.0, -0.5}}), target = tensor({0, 1});

  Tensor step() {
    optimizer.zero_grad();
    Tensor loss = nn::functional::cross_entropy(model(x), target);
    loss.backward();
    optimizer.step();
    return loss;
  }
  std::vector<double> weights() const {
    std::vector<double> all;
    for (const Tensor& p : model.parameters()) {
      for (double v : p.to_vector()) all.push_back(v);
    }
    return all;
  }
};

}  // namespace

TEST_CASE("a recorded training step goes on as the eager one, also after a change of the learning rate") {
  manual_seed(5);
  Training eager;
  manual_seed(5);
  Training recorded;
  std::vector<double> expected, losses;
  for (int i = 0; i < 6; ++i) {
    if (i == 3) eager.optimizer.set_lr(0.01);
    expected.push_back(eager.step().item());
  }
  auto step = record([&](const std::vector<Tensor>&) { return std::vector<Tensor>{recorded.step()}; }, {});
  losses.push_back(step.first_outputs()[0].item());
  for (int i = 1; i < 6; ++i) {
    if (i == 3) recorded.optimizer.set_lr(0.01);
    losses.push_back(step({})[0].item());
  }
  CHECK(losses == expected);
  CHECK(recorded.weights() == eager.weights());
  CHECK(recorded.optimizer.steps_taken(recorded.model.parameters()[0]) == 6);
}

TEST_CASE("an operator inside a layer carries the line that called the layer") {
  nn::Linear layer(3, 2);
  int line = 0;
  auto f = record(
      [&](const std::vector<Tensor>& args) {
        line = __LINE__ + 1;
        return std::vector<Tensor>{layer(args[0])};
      },
      {ones({1, 3})});
  std::string expected = concat("recorded_training_test.cpp:", line);
  const auto& nodes = f.graph().nodes;
  CHECK(std::any_of(nodes.begin(), nodes.end(), [&](const auto& node) { return node.origin.line == expected; }));
}
