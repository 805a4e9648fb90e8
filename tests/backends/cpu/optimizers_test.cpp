// Optimizer steps against their formulas in double.
#include "backends/cpu/parallel.h"
#include "tests/backends/cpu/tensors.h"

namespace fuselet::test {
namespace {

TEST_CASE("AdamW shrinks the parameter before the update") {
  std::vector<Tensor> p{tensor_of({1})}, m{zeros({1})}, v{zeros({1})};
  const double expected[] = {0.8900000, 0.8544663};
  for (int step = 1; step <= 2; ++step) {
    std::vector<Tensor> g{tensor_of({step == 1 ? 0.5 : -0.25})};
    adam_step(p, g, m, v, 0.1, step, 0.9, 0.999, 1e-8, 0.1, true);
    CHECK(p[0].item() == doctest::Approx(expected[step - 1]).epsilon(1e-6));
  }
}

TEST_CASE("Adam with L2 decay adds it to the gradient") {
  std::vector<Tensor> p{tensor_of({1}, kFloat64)}, m{zeros({1}, kFloat64)}, v{zeros({1}, kFloat64)};
  adam_step(p, std::vector<Tensor>{tensor_of({0.5}, kFloat64)}, m, v, 0.1, 1, 0.9, 0.999, 1e-8, 0.1);
  CHECK(p[0].item() == doctest::Approx(0.9).epsilon(1e-7));
  adam_step(p, std::vector<Tensor>{tensor_of({-0.25}, kFloat64)}, m, v, 0.1, 2, 0.9, 0.999, 1e-8, 0.1);
  CHECK(p[0].item() == doctest::Approx(0.8544414).epsilon(1e-6));
}

TEST_CASE("Adam over many tensors of any layout, sizes and dtypes") {
  std::vector<Tensor> p{varied({300, 500}), varied({40, 30}).t(), varied({7}, kBFloat16), zeros({0}), varied({})};
  std::vector<Tensor> g, m, v;
  std::vector<std::vector<double>> expected;
  for (const Tensor& t : p) {
    g.push_back(varied(t.sizes(), t.dtype(), 5));
    m.push_back(zeros(t.sizes()));
    v.push_back(zeros(t.sizes()));
    std::vector<double> x = t.to_vector(), gx = g.back().to_vector();
    for (size_t i = 0; i < x.size(); ++i) {
      const double first = 0.1 * gx[i], second = 0.001 * gx[i] * gx[i];
      x[i] -= 0.01 * (first / 0.1) / (std::sqrt(second / 0.001) + 1e-8);
    }
    expected.push_back(x);
  }
  adam_step(p, g, m, v, 0.01, 1, 0.9, 0.999, 1e-8);
  for (size_t i = 0; i < p.size(); ++i) check_values(p[i], expected[i], p[i].dtype() == kBFloat16 ? 4e-3 : 1e-6);
}

TEST_CASE("moments that decay below the normal numbers are zero, others are not touched") {
  for (DType t : {kFloat32, kFloat64}) {
    CAPTURE(name_of(t));
    const double smallest = t == kFloat32 ? 0x1p-126 : 0x1p-1022;
    std::vector<Tensor> p{tensor_of({1, 1, 1}, t)}, g{zeros({3}, t)};
    std::vector<Tensor> m{tensor_of({2 * smallest, smallest, -smallest}, t)}, v{tensor_of({1, smallest, 0}, t)};
    adam_step(p, g, m, v, 0.01, 1, 0.5, 0.5, 1e-8);
    check_values(m[0], {smallest, 0, 0}, 0);
    check_values(v[0], {0.5, 0, 0}, 0);
  }
}

TEST_CASE("a functional step leaves its arguments as they are") {
  std::vector<Tensor> p{tensor_of({1, 2})}, g{tensor_of({1, 1})};
  std::vector<Arg> args{Arg(TensorList(p)), Arg(TensorList(g)), Arg(TensorList()), Arg(),      Arg(),
                        Arg(0.0),           Arg(0.0),           Arg(0.0),          Arg(false), Arg(false)};
  Scalar lr(0.5), step(1);
  args[3] = Arg(lr);
  args[4] = Arg(step);
  std::vector<Tensor> outs = call_operator(*find_op("sgd_step"), args, false, Location::current());
  REQUIRE(outs.size() == 1);
  check_values(outs[0], {0.5, 1.5});
  check_values(p[0], {1, 2});
}

TEST_CASE("SGD: decay, momentum, dampening, nesterov, maximize") {
  std::vector<Tensor> p{tensor_of({1}, kFloat64)}, g{tensor_of({0.5}, kFloat64)}, b{zeros({1}, kFloat64)};
  double x = 1, buffer = 0;
  for (int step = 1; step <= 3; ++step) {
    const double d = -0.5 + 0.01 * x;  // maximize negates the gradient
    buffer = step == 1 ? d : 0.9 * buffer + 0.8 * d;
    x -= 0.1 * (d + 0.9 * buffer);
    sgd_step(p, g, b, 0.1, step, 0.9, 0.2, 0.01, true, true);
    CHECK(p[0].item() == doctest::Approx(x).epsilon(1e-14));
    CHECK(b[0].item() == doctest::Approx(buffer).epsilon(1e-14));
  }
}

TEST_CASE("clip_grad_norm scales all gradients by one factor") {
  std::vector<Tensor> g{tensor_of({3}), tensor_of({4, 0}, kFloat32, {1, 2})};
  Tensor norm = clip_grad_norm(g, 1.0);
  CHECK(norm.item() == 5);
  check_values(g[0], {0.6}, 1e-6);
  check_values(g[1], {0.8, 0}, 1e-6);
  CHECK(clip_grad_norm(g, 10.0, 1.0).item() == doctest::Approx(1.4));
  check_values(g[0], {0.6}, 1e-6);
  CHECK(clip_grad_norm(g, 10.0, kInf).item() == doctest::Approx(0.8));
  std::vector<Tensor> halves{full({1000}, 100.0, kFloat16)};
  CHECK(clip_grad_norm(halves, 1e9).item() == doctest::Approx(3162.2777));
  std::vector<Tensor> bad{tensor_of({kNaN, 1})};
  CHECK(std::isnan(clip_grad_norm(bad, 1.0).item()));
}

}  // namespace
}  // namespace fuselet::test
