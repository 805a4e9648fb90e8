// Normalisation and recurrent layers, and convolutions in groups: values by hand.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <cmath>

using namespace fuselet;

namespace {

void check_close(const Tensor& got, const std::vector<double>& expected) {
  const std::vector<double> values = got.to_vector();
  REQUIRE(values.size() == expected.size());
  for (size_t i = 0; i < values.size(); ++i) CHECK(values[i] == doctest::Approx(expected[i]).epsilon(1e-4));
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

TEST_CASE("BatchNorm normalises by the batch and keeps running statistics") {
  nn::BatchNorm1d norm(2, {.eps = 0});
  Tensor x = tensor({{1.0, 10.0}, {3.0, 30.0}});
  check_close(norm(x), {-1, -1, 1, 1});
  check_close(norm.running_mean(), {0.2, 2});
  check_close(norm.running_var(), {0.9 + 0.2, 0.9 + 20});
  norm.eval();
  check_close(norm(x), {0.8 / std::sqrt(1.1), 8 / std::sqrt(20.9), 2.8 / std::sqrt(1.1), 28 / std::sqrt(20.9)});
  CHECK(norm.buffer("num_batches_tracked").item_int() == 1);
  CHECK(norm.state_dict().size() == 5);
  CHECK_THROWS_AS(norm(ones({2, 2, 2, 2})), Error);
  nn::BatchNorm2d images(1);
  Tensor y = images(tensor({1.0, 2.0, 3.0, 4.0}).view({1, 1, 2, 2}));
  check_close(y, {-1.34164, -0.44721, 0.44721, 1.34164});
  // The mean of 1000 values of 300 overflows float16 as a sum.
  nn::BatchNorm1d narrow_norm(1);
  narrow_norm.to(DType::Float16);
  CHECK(std::abs(narrow_norm(full({1000, 1}, 300.0, DType::Float16)).sum().item()) < 1);
}

TEST_CASE("GroupNorm and RMSNorm") {
  nn::GroupNorm groups(2, 4, 0);
  check_close(groups(tensor({{1.0, 3.0, 5.0, 9.0}})), {-1, 1, -1, 1});
  CHECK_THROWS_AS(nn::GroupNorm(3, 4), Error);
  nn::RMSNorm rms(2, 0);
  check_close(rms(tensor({{3.0, 4.0}})), {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)});
}

TEST_CASE("a convolution in groups keeps them apart") {
  nn::Conv2d conv(2, 2, 1, {.groups = 2, .bias = false});
  CHECK(conv.weight().sizes()[1] == SymInt(1));
  NoGradGuard no_grad;
  Tensor w = conv.weight();
  w.copy_(tensor({2.0, 3.0}).view({2, 1, 1, 1}));
  check_close(conv(tensor({1.0, 10.0}).view({1, 2, 1, 1})), {2, 30});
  nn::Conv2d wide(1, 1, 2, {.dilation = 2, .bias = false});
  w = wide.weight();
  w.copy_(ones({1, 1, 2, 2}));
  check_close(wide(arange(9.0).view({1, 1, 3, 3})), {0 + 2 + 6 + 8});
  CHECK_THROWS_AS(nn::Conv2d(3, 2, 1, {.groups = 2}), Error);
}

TEST_CASE("LSTM and GRU of one unit by their formulas") {
  auto fill = [](nn::Module& m) {
    NoGradGuard no_grad;
    double value = 0.1;
    for (Tensor p : m.parameters()) p.copy_(full(p.sizes(), value += 0.1));
  };
  nn::LSTM lstm(1, 1);
  fill(lstm);  // W_ih 0.2, W_hh 0.3, b_ih 0.4, b_hh 0.5
  Tensor x = tensor({1.0, 2.0}).view({2, 1, 1});
  double h = 0, c = 0;
  std::vector<double> outputs;
  for (double in : {1.0, 2.0}) {
    double gate = 0.2 * in + 0.3 * h + 0.9;
    c = sigmoid_of(gate) * c + sigmoid_of(gate) * std::tanh(gate);
    outputs.push_back(h = sigmoid_of(gate) * std::tanh(c));
  }
  std::vector<Tensor> states;
  check_close(lstm.forward(x, states), outputs);
  check_close(states[0], {h});
  check_close(states[1], {c});
  nn::GRU gru(1, 1, 2);
  fill(gru);  // the second layer: 0.6, 0.7, 0.8, 0.9
  auto step = [](double in, double before, double wi, double wh, double bi, double bh) {
    double r = sigmoid_of(wi * in + bi + wh * before + bh);
    double n = std::tanh(wi * in + bi + r * (wh * before + bh));
    return (1 - r) * n + r * before;
  };
  double a = step(1, 0, 0.2, 0.3, 0.4, 0.5), b = step(a, 0, 0.6, 0.7, 0.8, 0.9);
  double a2 = step(2, a, 0.2, 0.3, 0.4, 0.5), b2 = step(a2, b, 0.6, 0.7, 0.8, 0.9);
  check_close(gru(x), {b, b2});
  CHECK(gru.named_parameters()[4].first == "weight_ih_l1");
  CHECK_THROWS_AS(gru(ones({2, 1, 3})), Error);
}
