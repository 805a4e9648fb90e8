#include <doctest/doctest.h>

#include <cmath>

#include "tests/backends/reference/run_reference.h"

using namespace fuselet;
using namespace fuselet::reference;
using Ints = std::vector<int64_t>;

namespace {

constexpr std::monostate kNone;
const double kLog2 = std::log(2.0);

}  // namespace

TEST_CASE("reference: matrix products") {
  RefTensor a = tensor({2, 2}, {1, 2, 3, 4}), v = tensor({2}, {5, 6});
  CHECK(run("matmul", {a, a}) == tensor({2, 2}, {7, 10, 15, 22}));
  CHECK(run("matmul", {a, v}) == tensor({2}, {17, 39}));
  CHECK(run("matmul", {v, a}) == tensor({2}, {23, 34}));
  CHECK(run("matmul", {v, v}) == tensor({}, {61}));
  CHECK(run("matmul", {tensor({2, 1, 2}, {1, 0, 0, 1}), a}) == tensor({2, 1, 2}, {1, 2, 3, 4}));
  CHECK(run("addmm", {v, a, a}) == tensor({2, 2}, {12, 16, 20, 28}));
  CHECK(run("linear", {v, a, v}) == tensor({2}, {22, 45}));
}

TEST_CASE("reference: convolution and its gradients") {
  RefTensor x = tensor({1, 1, 2, 2}, {1, 2, 3, 4}), w = tensor({1, 1, 2, 2}, {1, 10, 100, 1000});
  const Ints one = {1, 1}, none = {0, 0};
  const RefArg single = int64_t{1};
  CHECK(run("conv2d", {x, w, tensor({1}, {5}), one, none, one, single}) == tensor({1, 1, 1, 1}, {4326}));
  CHECK(run("conv2d", {x, w, kNone, Ints{2}, Ints{1}, one, single}) == tensor({1, 1, 2, 2}, {1000, 200, 30, 4}));
  RefTensor g = tensor({1, 1, 1, 1}, {2});
  CHECK(run("conv2d_input_grad", {g, w, Ints{1, 1, 2, 2}, one, none, one, single}) ==
        tensor({1, 1, 2, 2}, {2, 20, 200, 2000}));
  CHECK(run("conv2d_weight_grad", {g, x, Ints{1, 1, 2, 2}, one, none, one, single}) ==
        tensor({1, 1, 2, 2}, {2, 4, 6, 8}));
  // The window's corners alone lie inside the padding; then two groups of a channel each.
  CHECK(run("conv2d", {x, w, kNone, one, Ints{1}, Ints{3}, single}) == tensor({1, 1, 1, 1}, {0}));
  CHECK(run("conv2d", {x, w, kNone, one, Ints{1}, Ints{2}, single}) == tensor({1, 1, 2, 2}, {4000, 300, 20, 1}));
  RefTensor pair = tensor({1, 2, 1, 1}, {3, 5}), scales = tensor({2, 1, 1, 1}, {2, 7});
  CHECK(run("conv2d", {pair, scales, kNone, one, none, one, int64_t{2}}) == tensor({1, 2, 1, 1}, {6, 35}));
}

TEST_CASE("reference: softmax and layer norm") {
  RefTensor x = tensor({1, 2}, {0, std::log(3.0)});
  CHECK(near(run("softmax", {x, int64_t{-1}, kNone}), tensor({1, 2}, {0.25, 0.75})));
  CHECK(near(run("log_softmax", {x, int64_t{0}, kNone}), tensor({1, 2}, {0, 0})));
  CHECK(std::isnan(run("softmax", {tensor({1}, {-INFINITY}), int64_t{0}, kNone}).values[0]));
  RefTensor y = tensor({1, 2}, {0.25, 0.75}), g = tensor({1, 2}, {1, 0});
  CHECK(near(run("softmax_grad", {g, y, int64_t{1}}), tensor({1, 2}, {0.1875, -0.1875})));
  std::vector<RefTensor> norm =
      run_all("layer_norm_forward", {tensor({1, 2}, {1, 3}), Ints{2}, tensor({2}, {2, 2}), tensor({2}, {1, 1}), 0.0});
  CHECK(norm[0] == tensor({1, 2}, {-1, 3}));
  CHECK(norm[1] == tensor({1, 1}, {2}));
  CHECK(norm[2] == tensor({1, 1}, {1}));
}

TEST_CASE("reference: cross entropy skips ignored rows and weighs the mean") {
  RefTensor x = tensor({3, 2}, {0, 0, 0, std::log(3.0), 5, 5}), t = tensor({3}, {0, 1, -100}, DType::Int64);
  double rows[] = {kLog2, std::log(4.0 / 3)};
  auto loss = [&](RefArg weight, const char* how, double smoothing) {
    return run("cross_entropy_forward", {x, t, weight, std::string(how), int64_t{-100}, smoothing});
  };
  CHECK(near(loss(kNone, "none", 0), tensor({3}, {rows[0], rows[1], 0})));
  CHECK(near(loss(kNone, "mean", 0), tensor({}, {(rows[0] + rows[1]) / 2})));
  CHECK(near(loss(tensor({2}, {1, 3}), "mean", 0), tensor({}, {(rows[0] + 3 * rows[1]) / 4})));
  // All of the target's share spread over both classes.
  CHECK(near(loss(kNone, "sum", 1), tensor({}, {kLog2 + (std::log(4.0) + std::log(4.0 / 3)) / 2})));
  RefTensor grad = run("cross_entropy_grad", {tensor({}, {1}), x, t, kNone, std::string("sum"), int64_t{-100}, 0.0});
  CHECK(near(grad, tensor({3, 2}, {-0.5, 0.5, 0.25, -0.25, 0, 0})));
}

TEST_CASE("reference: optimizer steps") {
  using List = std::vector<RefTensor>;
  List p = {tensor({1}, {1})}, g = {tensor({1}, {2})}, zero = {tensor({1}, {0})};
  CHECK(run("sgd_step", {p, g, List{}, Scalar(0.5), Scalar(1), 0.0, 0.0, 1.0, false, false}) == tensor({1}, {-0.5}));
  List out = run_all("sgd_step", {p, g, List{tensor({1}, {4})}, Scalar(0.5), Scalar(2), 0.5, 0.0, 0.0, true, false});
  CHECK(out[0] == tensor({1}, {-1}));  // buffer 0.5*4 + 2 = 4, direction 2 + 0.5*4 = 4
  CHECK(out[1] == tensor({1}, {4}));
  // The first step of Adam is lr along the sign of the gradient.
  out = run_all("adam_step",
                {p, g, zero, zero, Scalar(0.25), Scalar(1), Scalar(0.9), Scalar(0.99), 0.0, 0.0, false, false});
  CHECK(near(out[0], tensor({1}, {0.75})));
  CHECK(near(out[1], tensor({1}, {0.2})));
  CHECK(near(out[2], tensor({1}, {0.04})));
  out = run_all("clip_grad_norm", {List{tensor({2}, {3, 4})}, 10.0, 2.0});
  CHECK(out[0] == tensor({2}, {3, 4}));
  CHECK(out[1] == tensor({}, {5}, DType::Float32));
}

TEST_CASE("reference: Philox words of the published test vectors") {
  // Salmon et al., kat_vectors: key and counter zero give 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  RefTensor u = run("rand", {Ints{4}, DType::Float64, kNone});
  CHECK(u == tensor({4}, {0x6627e8d5p-32, 0xe169c58dp-32, 0xbc57ac4cp-32, 0x9b00dbd8p-32}));
  RefTensor kept = run_all("dropout_forward", {tensor({2}, {1, 1}), 0.5})[1];
  CHECK(kept == tensor({2}, {0, 1}, DType::Bool));  // 0xe8d5 >= 0x8000, 0x6627 < 0x8000
}
