// Activation layers against numbers from PyTorch 2.11.0 on the same inputs.
#include "tests/frontend/layer_values.h"

using namespace fuselet;

namespace {

Tensor x() { return tensor({-25.0, -2.5, -0.75, 0.0, 0.3, 1.5, 30.0}); }

}  // namespace

TEST_CASE("activations are the operators' formulas") {
  check_close(nn::LeakyReLU(0.2)(x()), {-5.0, -0.5, -0.15, 0.0, 0.3, 1.5, 30.0});
  check_close(nn::ELU(1.5)(x()), {-1.5, -1.3768725, -0.7914501, 0.0, 0.3, 1.5, 30.0});
  check_close(nn::CELU(2)(x()), {-1.9999925, -1.4269904, -0.6254214, 0.0, 0.3, 1.5, 30.0});
  check_close(nn::SELU()(x()), {-1.7580993, -1.6137857, -0.927632, 0.0, 0.3152103, 1.5760515, 31.5210304});
  check_close(nn::Softplus(2, 10)(x()), {0.0, 0.0033577, 0.1007066, 0.3465736, 0.518744, 1.5242937, 30.0});
  check_close(nn::Softsign()(x()), {-0.9615384, -0.7142857, -0.4285714, 0.0, 0.2307692, 0.6, 0.9677419});
  check_close(nn::Hardtanh(-0.5, 2)(x()), {-0.5, -0.5, -0.5, 0.0, 0.3, 1.5, 2.0});
  check_close(nn::ReLU6()(x()), {0.0, 0.0, 0.0, 0.0, 0.3, 1.5, 6.0});
  check_close(nn::Hardsigmoid()(x()), {0.0, 0.0833333, 0.375, 0.5, 0.55, 0.75, 1.0});
  check_close(nn::Hardswish()(x()), {-0.0, -0.2083333, -0.28125, 0.0, 0.165, 1.125, 30.0});
  check_close(nn::Mish()(x()), {-0.0, -0.1968162, -0.2764947, 0.0, 0.2080014, 1.4033782, 30.0});
  check_close(nn::LogSigmoid()(x()), {-25.0, -2.5788898, -1.136871, -0.6931472, -0.5543552, -0.2014133, -0.0});
  check_close(nn::Softshrink(0.5)(x()), {-24.5, -2.0, -0.25, 0.0, 0.0, 1.0, 29.5});
  check_close(nn::Hardshrink(0.5)(x()), {-25.0, -2.5, -0.75, 0.0, 0.0, 1.5, 30.0});
  check_close(nn::Tanhshrink()(x()), {-24.0, -1.5133858, -0.1148511, 0.0, 0.0086874, 0.5948517, 29.0});
  check_close(nn::Threshold(0.5, -7)(x()), {-7.0, -7.0, -7.0, -7.0, -7.0, 1.5, 30.0});
  check_close(nn::LogSoftmax(0)(x()), {-55.0, -32.5, -30.75, -30.0, -29.7000008, -28.5, 0.0});
  check_close(nn::Softmin(0)(x()), {1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0});
  check_close(nn::PReLU()(x()), {-6.25, -0.625, -0.1875, 0.0, 0.3, 1.5, 30.0});
  check_close(nn::GLU()(wave({2, 4})), {0.4434426, 0.1791569, -0.586079, -0.1540982});
}

TEST_CASE("PReLU learns a weight for each channel") {
  nn::PReLU layer(2, 0.5);
  Tensor y = layer(tensor({{-2.0, -4.0}, {1.0, -1.0}}));
  check_close(y, {-1, -2, 1, -0.5});
  y.sum().backward();
  check_close(layer.weight().grad(), {-2, -5});
  CHECK(parameter_names(layer) == std::vector<std::string>{"weight"});
  CHECK_THROWS_AS(nn::PReLU(0), Error);
}

TEST_CASE("Dropout2d zeroes whole channels while training") {
  manual_seed(1);
  nn::Dropout2d drop(0.5);
  Tensor y = drop(ones({4, 25, 2, 2})).reshape({100, 4});
  int64_t zeroed = 0;
  for (int64_t i = 0; i < 100; ++i) {
    const std::vector<double> plane = y[i].to_vector();
    CHECK((plane == std::vector<double>(4, 0) || plane == std::vector<double>(4, 2)));
    zeroed += plane[0] == 0;
  }
  // 100 fair coins: within 5 standard deviations of 5.
  CHECK(zeroed > 25);
  CHECK(zeroed < 75);
  drop.eval();
  CHECK(drop(ones({1, 1, 2, 2})).sum().item() == 4);
  CHECK_THROWS_AS(drop(ones({2, 2})), Error);
  CHECK_THROWS_WITH_AS(nn::Dropout2d(1.5), "Dropout2d: the probability must lie in [0, 1], got 1.5", Error);
}
