// softmax, layer_norm, cross_entropy and their gradients against double precision.
#include "backends/cpu/parallel.h"
#include "core/ops/decompositions.h"
#include "tests/backends/cpu/tensors.h"

namespace fuselet::test {
namespace {

const double kLog2 = std::log(2.0), kLog3 = std::log(3.0);

TEST_CASE("softmax of a row; masked rows are NaN and only they") {
  Tensor x = tensor_of({0, kLog3, -kInf, -kInf, kNaN, -kInf}, kFloat32, {3, 2});
  check_values(softmax(x, -1), {0.25, 0.75, kNaN, kNaN, kNaN, kNaN}, 1e-7);
  check_values(softmax(tensor_of({1000, 1000, -kInf}), 0), {0.5, 0.5, 0});
  check_values(log_softmax(tensor_of({0, kLog3}), 0), {-2 * kLog2, kLog3 - 2 * kLog2}, 1e-6);
  CHECK(softmax(zeros({0, 3}), 1).numel() == 0);
  CHECK(softmax(zeros({3, 0}), 1).numel() == 0);
  CHECK(softmax(full({}, 3.0), 0).item() == 1);
  CHECK(softmax(tensor_of({1, 2}, kFloat16), 0, kFloat32).dtype() == kFloat32);
}

TEST_CASE("softmax and its gradients along every dimension, as their decompositions") {
  Tensor x = varied({5, 70, 19}), g = varied({5, 70, 19}, kFloat32, 4);
  for (const Tensor& t : {x, x.permute({2, 0, 1}), x.cast(kFloat64)}) {
    Tensor grad = same_sizes(t.sizes(), g.sizes()) ? g.cast(t.dtype()) : g.permute({2, 0, 1});
    for (int64_t dim : {0, 1, 2}) {
      CAPTURE(dim);
      Tensor y = softmax(t, dim), l = log_softmax(t, dim);
      CHECK(same_bits(y, decompose::softmax(t, dim, std::nullopt).contiguous()));
      CHECK(same_bits(l, decompose::log_softmax(t, dim, std::nullopt).contiguous()));
      CHECK(same_bits(softmax_grad(grad, y, dim), decompose::softmax_grad(grad, y, dim).contiguous()));
      CHECK(same_bits(log_softmax_grad(grad, l, dim), decompose::log_softmax_grad(grad, l, dim).contiguous()));
      check_values(y.sum(dim), std::vector<double>(static_cast<size_t>(y.numel() / y.size(dim)), 1), 1e-6);
    }
  }
}

TEST_CASE("float16 softmax is calculated in float32") {
  Tensor x = tensor_of({0, kLog3}, kFloat16);
  check_values(softmax(x, 0), {0.25, 0.75}, 1e-3);
  // Each of 70000 terms is 1 beside a sum beyond float16.
  CHECK(softmax(zeros({70000}, kFloat16), 0).select(0, 0).item() == doctest::Approx(1.0 / 70000).epsilon(0.01));
}

TEST_CASE("layer_norm of a row far from zero keeps its digits") {
  Tensor x = filled({4}, kFloat32, [](int64_t i) { return (1 << 20) + i; });
  auto [y, mean, rstd] = layer_norm_forward(x, {4});
  check_values(y, {-1.3416354, -0.4472118, 0.4472118, 1.3416354}, 1e-6);
  CHECK(mean.item() == 1048577.5);
  CHECK(sizes_of(mean) == std::vector<int64_t>{1});
}

TEST_CASE("layer_norm and its gradient as their decompositions, with and without weight and bias") {
  Tensor weight = varied({6, 11}, kFloat32, 2), bias = varied({6, 11}, kFloat32, 3);
  for (int64_t rows : {1, 3, 64, 65, 300}) {
    CAPTURE(rows);
    Tensor x = exp(varied({rows, 6, 11})), g = varied({rows, 6, 11}, kFloat32, 8);
    for (bool affine : {false, true}) {
      Tensor w = affine ? weight : Tensor(), b = affine ? bias : Tensor();
      auto got = layer_norm_forward(x, {6, 11}, w, b, 1e-5),
           expected = decompose::layer_norm_forward(x, {6, 11}, w, b, 1e-5);
      for (size_t i = 0; i < 3; ++i) CHECK(same_bits(got[i], expected[i]));
      auto grads = layer_norm_grad(g, x, got[1], got[2], w, {6, 11}),
           expected_grads = decompose::layer_norm_grad(g, x, got[1], got[2], w, {6, 11});
      CHECK(same_bits(grads[0], expected_grads[0]));
      for (size_t i : {1, 2}) check_values(grads[i], expected_grads[i].to_vector(), 1e-5);
    }
  }
}

TEST_CASE("layer_norm of no rows has zero gradients for weight and bias") {
  auto [y, mean, rstd] = layer_norm_forward(zeros({0, 3}), {3}, ones({3}), ones({3}));
  CHECK(y.numel() == 0);
  auto grads = layer_norm_grad(zeros({0, 3}), zeros({0, 3}), mean, rstd, ones({3}), {3});
  check_values(grads[1], {0, 0, 0});
  check_values(grads[2], {0, 0, 0});
}

Tensor classes(std::vector<double> v) { return tensor_of(std::move(v), kInt64); }

TEST_CASE("cross_entropy with smoothing and an ignored row") {
  Tensor z = tensor_of({kLog2, 0, 5, -5}, kFloat32, {2, 2}), t = classes({0, -100});
  Tensor loss = cross_entropy_forward(z, t, Tensor(), "mean", -100, 0.2);
  CHECK(loss.item() == doctest::Approx(0.4747798).epsilon(1e-6));
  Tensor g = cross_entropy_grad(ones({}), z, t, Tensor(), "mean", -100, 0.2);
  check_values(g, {-0.2333333, 0.2333333, 0, 0}, 1e-6);
}

TEST_CASE("cross_entropy of ignored rows alone") {
  Tensor z = varied({3, 4}), t = classes({-100, -100, -100});
  CHECK(cross_entropy_forward(z, t, Tensor(), "sum").item() == 0);
  CHECK(std::isnan(cross_entropy_forward(z, t, Tensor(), "mean").item()));
  for (const char* reduction : {"sum", "mean"})
    check_values(cross_entropy_grad(ones({}), z, t, Tensor(), reduction, -100, 0.1), std::vector<double>(12, 0));
  check_values(cross_entropy_forward(z, t, Tensor(), "none"), {0, 0, 0});
}

TEST_CASE("a target outside the classes raises unless it is ignored") {
  Tensor z = varied({2, 3});
  CHECK_THROWS_AS(cross_entropy_forward(z, classes({0, 3})), IndexError);
  CHECK_THROWS_AS(cross_entropy_forward(z, classes({0, -1})), IndexError);
  CHECK_THROWS_AS(cross_entropy_grad(ones({}), z, classes({0, 3}), Tensor(), "mean", -100, 0.0), IndexError);
  CHECK(std::isfinite(cross_entropy_forward(z, classes({0, 3}), Tensor(), "mean", 3).item()));
}

TEST_CASE("cross_entropy and its gradient as their decompositions") {
  Tensor z = varied({40, 37}), t = filled({40}, kInt64, [](int64_t i) { return i % 5 == 4 ? -100 : i * 7 % 37; });
  Tensor weight = varied({37}, kFloat32, 6).abs() + 0.5, each = varied({40}, kFloat32, 7);
  for (const char* reduction : {"none", "sum", "mean"}) {
    for (double smoothing : {0.0, 0.1}) {
      for (bool weighted : {false, true}) {
        Tensor w = weighted ? weight : Tensor(), g = std::strcmp(reduction, "none") ? full({}, 1.5) : each;
        check_values(cross_entropy_forward(z, t, w, reduction, -100, smoothing),
                     decompose::cross_entropy_forward(z, t, w, reduction, -100, smoothing).to_vector(), 1e-6);
        check_values(cross_entropy_grad(g, z, t, w, reduction, -100, smoothing),
                     decompose::cross_entropy_grad(g, z, t, w, reduction, -100, smoothing).to_vector(), 1e-6);
      }
    }
  }
}

TEST_CASE("fused kernels have the same bits for every thread count") {
  Tensor x = exp(varied({200, 300})), t = filled({200}, kInt64, [](int64_t i) { return i; });
  auto all = [&] {
    auto [y, mean, rstd] = layer_norm_forward(x, {300});
    auto grads = layer_norm_grad(x, x, mean, rstd, Tensor(), {300});
    return std::vector<Tensor>{softmax(x, 0),
                               softmax(x, 1),
                               y,
                               grads[0],
                               grads[1],
                               cross_entropy_forward(x, t),
                               cross_entropy_grad(ones({}), x, t, Tensor(), "mean", -100, 0.1)};
  };
  cpu::set_num_threads(1);
  std::vector<Tensor> one = all();
  cpu::set_num_threads(2);
  std::vector<Tensor> two = all();
  for (size_t i = 0; i < one.size(); ++i) CHECK(same_bits(one[i], two[i]));
}

}  // namespace
}  // namespace fuselet::test
