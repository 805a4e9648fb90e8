// sum, mean, amax, amin, argmax, var over any dimensions, dtypes and layouts.
#include <functional>

#include "backends/cpu/parallel.h"
#include "tests/backends/cpu/tensors.h"

namespace fuselet::test {
namespace {

// Sums in double over the dimensions of the mask, by brute force.
std::vector<double> sums(
    const Tensor& t, uint64_t mask, const std::function<double(double)>& term = [](double v) { return v; }) {
  std::vector<double> values = t.to_vector(), out;
  std::vector<int64_t> sizes = sizes_of(t);
  int64_t outputs = 1;
  for (size_t d = 0; d < sizes.size(); ++d) outputs *= mask >> d & 1 ? 1 : sizes[d];
  out.assign(static_cast<size_t>(outputs), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), place = 0, step = 1;
    for (size_t d = sizes.size(); d-- > 0;) {
      const int64_t at = rest % sizes[d];
      rest /= sizes[d];
      if (mask >> d & 1) continue;
      place += at * step;
      step *= sizes[d];
    }
    out[static_cast<size_t>(place)] += term(values[i]);
  }
  return out;
}

Dims dims_of(uint64_t mask) {
  Dims dims;
  for (int64_t d = 0; d < 8; ++d) {
    if (mask >> d & 1) dims.push_back(d);
  }
  return dims;
}

TEST_CASE("sums over every set of dimensions of every layout") {
  // Multiples of 1/64 of few digits: sums are exact in float, so every order gives the same.
  Tensor x = varied({5, 70, 3, 9});
  for (const Tensor& t : {x, x.permute({3, 1, 0, 2}), x.permute({1, 3, 2, 0}), x.slice(1, 3, 66, 4),
                          x.select(2, 1).unsqueeze(0).expand({2, 5, 70, 9})}) {
    for (uint64_t mask = 1; mask < 16; ++mask) {
      CAPTURE(mask);
      check_values(t.sum(dims_of(mask)), sums(t, mask));
    }
    check_values(t.sum(), sums(t, 15));
  }
}

TEST_CASE("long rows and tall columns") {
  for (int64_t n : {63, 64, 65, 511, 512, 513, 1024, 5000, 100000}) {
    CAPTURE(n);
    Tensor t = varied({n, 3});
    check_values(t.sum(0), sums(t, 1));
    check_values(t.t().sum(1), sums(t, 1));
    check_values(t.sum(), sums(t, 3));
    check_values(varied({2, n}).sum(1), sums(varied({2, n}), 2));
  }
  Tensor wide = varied({70, 1500});
  check_values(wide.sum(0), sums(wide, 1));
}

TEST_CASE("keepdim and the shapes of results") {
  Tensor x = varied({2, 3, 4});
  CHECK(sizes_of(x.sum(IntList{0, 2}, true)) == std::vector<int64_t>{1, 3, 1});
  CHECK(sizes_of(x.sum(-1)) == std::vector<int64_t>{2, 3});
  CHECK(x.sum().dim() == 0);
  CHECK_THROWS_AS(x.sum(3), IndexError);
}

TEST_CASE("16-bit floats are summed in float32") {
  CHECK(ones({8192}, kFloat16).sum().item() == 8192);
  CHECK(ones({8192}, kBFloat16).sum().item() == 8192);
  CHECK(tensor_of({4e4, 4e4, -4e4, -4e4}, kFloat16).sum(0).item() == 0);
  CHECK(ones({70000}, kFloat16).mean().item() == 1);
  CHECK(ones({8192, 2}, kFloat16).sum(0).select(0, 1).item() == 8192);
}

TEST_CASE("integers and bools are summed in int64") {
  Tensor s = tensor_of({2147483647, 2147483647}, kInt32).sum();
  CHECK(s.dtype() == kInt64);
  CHECK(s.item_int() == 4294967294);
  CHECK(full({200}, 2, kUInt8).sum().item_int() == 400);
  CHECK(ones({300}, kBool).sum().item_int() == 300);
  Tensor narrow = tensor_of({2147483647, 2}, kInt32).sum(IntList{}, false, kInt32);
  CHECK(narrow.dtype() == kInt32);
  CHECK(narrow.item_int() == -2147483647);
  CHECK(tensor_of({200, 100, 0.5}).sum(IntList{}, false, kUInt8).item_int() == 44);  // 200 + 100 + 0, wrapped
  CHECK(tensor_of({1e10, 1}, kFloat32).sum(IntList{}, false, kFloat64).item() == 10000000001.0);
}

TEST_CASE("empty reductions") {
  Tensor e = zeros({0, 4});
  CHECK(e.sum().item() == 0);
  CHECK(std::isnan(e.mean().item()));
  check_values(e.sum(0), {0, 0, 0, 0});
  CHECK(e.sum(1).numel() == 0);
  CHECK(sizes_of(e.amax(1)) == std::vector<int64_t>{0});
  CHECK_THROWS_AS(e.amax(), Error);
  CHECK_THROWS_AS(e.amax(0), Error);
  CHECK(std::isnan(e.var(IntList{}).item()));
}

TEST_CASE("the largest and smallest elements; NaN wins") {
  for (DType t : {kFloat64, kFloat32, kFloat16, kBFloat16, kInt64, kInt32, kInt8, kUInt8}) {
    Tensor x = tensor_of({3, 1, 2, 5, 9, 4}, t, {2, 3});
    check_values(x.amax(1), {3, 9});
    check_values(x.amin(0), {3, 1, 2});
    check_values(x.amax(), {9});
    check_values(x.t().amax(0), {3, 9});
    CHECK(x.amax(1).dtype() == t);
  }
  check_values(tensor_of({1, kNaN, 3, 2, 5, 4}, kFloat32, {2, 3}).amax(1), {kNaN, 5});
  check_values(tensor_of({1, kNaN, 3, 2, 5, 4}, kFloat32, {2, 3}).amin(0), {1, kNaN, 3});
  check_values(tensor_of({-kInf, -kInf}).amax(), {-kInf});
  check_values(tensor_of({1, 0, 0, 0}, kBool, {2, 2}).amax(1), {1, 0});
  CHECK(full({3}, int64_t{1} << 60).amax().item_int() == int64_t{1} << 60);
}

TEST_CASE("argmax takes the first of equals and the first NaN") {
  check_values(tensor_of({1, 3, 3, 7, 7, 2}, kFloat32, {2, 3}).argmax(1), {1, 0});
  check_values(tensor_of({1, 3, 3, 7, 7, 3}, kFloat32, {2, 3}).argmax(0), {1, 1, 0});
  CHECK(tensor_of({1, kNaN, kNaN, 9}).argmax().item_int() == 1);
  CHECK(tensor_of({-kInf, -kInf}).argmax().item_int() == 0);
  Tensor long_row = zeros({3000});
  long_row.slice(0, 2000, 2001).add_(1);
  long_row.slice(0, 2500, 2501).add_(1);
  CHECK(long_row.argmax().item_int() == 2000);
  check_values(tensor_of({1, 5, 2, 9, 0, 3}, kInt32, {2, 3}).t().argmax(0), {1, 0});
  CHECK(sizes_of(zeros({2, 3}).argmax(std::nullopt, true)) == std::vector<int64_t>{1, 1});
}

TEST_CASE("variance takes two passes") {
  Tensor x = filled({4}, kFloat32, [](int64_t i) { return (1 << 20) + i; });
  CHECK(x.var(IntList{}, 0).item() == 1.25);
  CHECK(x.var(IntList{}, 1).item() == doctest::Approx(5.0 / 3));
  Tensor y = varied({40, 30});
  std::vector<double> mean = sums(y, 1);
  std::vector<double> expected(30, 0), v = y.to_vector();
  for (size_t i = 0; i < v.size(); ++i)
    expected[i % 30] += (v[i] - mean[i % 30] / 40) * (v[i] - mean[i % 30] / 40) / 39;
  check_values(y.var(0), expected, 1e-6);
  check_values(y.t().var(1), expected, 1e-6);
  CHECK(std::isnan(tensor_of({1}).var(IntList{}, 1).item()));
}

TEST_CASE("mean divides before narrowing and casts first") {
  CHECK(tensor_of({1, 2, 6}, kInt32).mean(IntList{}, false, kFloat32).item() == 3);
  CHECK_THROWS_AS(tensor_of({1, 2}, kInt32).mean(), Error);
  check_values(
      varied({4, 6}).mean(1),
      [] {
        std::vector<double> s = sums(varied({4, 6}), 2);
        for (double& e : s) e /= 6;
        return s;
      }(),
      1e-7);
}

TEST_CASE("bits depend neither on threads nor on layout") {
  Tensor x = exp(varied({300, 700}));
  Tensor copies[] = {x, x.t().contiguous().t(), x.unsqueeze(0).expand({2, 300, 700}).select(0, 1)};
  for (int dim : {0, 1, -100}) {
    cpu::set_num_threads(1);
    Tensor one = dim == -100 ? x.sum() : x.sum(dim);
    Tensor one_var = dim == -100 ? x.var(IntList{}) : x.var(dim);
    cpu::set_num_threads(2);
    for (const Tensor& t : copies) {
      CHECK(same_bits(dim == -100 ? t.sum() : t.sum(dim), one));
      CHECK(same_bits(dim == -100 ? t.var(IntList{}) : t.var(dim), one_var));
    }
  }
}

}  // namespace
}  // namespace fuselet::test
