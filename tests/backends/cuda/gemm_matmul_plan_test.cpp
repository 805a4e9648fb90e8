// matmul's rules as products of matrices: every plan is run on the host and compared with the CPU backend's double
// precision, whose products have their own tests.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "backends/cuda/gemm/host_gemm.h"
#include "backends/cuda/gemm/matmul_plan.h"
#include "core/ops/functions.h"

using namespace fuselet;
using namespace fuselet::cuda;

namespace {

Geometry geometry_of(const Tensor& t) { return {t.sizes(), t.strides()}; }
DevicePtr address(const Tensor& t) { return reinterpret_cast<uintptr_t>(t.impl()->data()); }

struct Planned {
  Tensor out;
  size_t launches = 0, copies = 0;
};

Planned run_planned(Tensor a, Tensor b) {
  Planned result{full_like(matmul(a, b), -77.0)};
  MatmulPlan plan = plan_matmul(geometry_of(a), geometry_of(b), geometry_of(result.out));
  if (plan.copy_a) a = a.contiguous(), ++result.copies;
  if (plan.copy_b) b = b.contiguous(), ++result.copies;
  if (result.copies > 0) plan = plan_matmul(geometry_of(a), geometry_of(b), geometry_of(result.out));
  REQUIRE_FALSE(plan.copy_a);
  REQUIRE_FALSE(plan.copy_b);
  for (const auto& start : plan.starts) {
    GemmDesc d = plan.desc;
    d.in = d.out = DType::Float64;
    d.a.data = address(a) + static_cast<DevicePtr>(start[0]) * 8;
    d.b.data = address(b) + static_cast<DevicePtr>(start[1]) * 8;
    d.d.data = address(result.out) + static_cast<DevicePtr>(start[2]) * 8;
    INFO(to_string(d));
    REQUIRE(reason_refused(d) == nullptr);
    host_gemm(d);
    ++result.launches;
  }
  return result;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  REQUIRE(x.size() == y.size());
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

Tensor random(const IntList& sizes) { return randn(sizes, DType::Float64); }

struct Expected {
  size_t launches, copies;
};
void check(const Tensor& a, const Tensor& b, Expected expected) {
  const Planned got = run_planned(a, b);
  INFO(to_string(a.sizes()), to_string(a.strides()), " @ ", to_string(b.sizes()), to_string(b.strides()));
  CHECK(got.launches == expected.launches);
  CHECK(got.copies == expected.copies);
  CHECK(largest_difference(got.out, matmul(a, b)) < 1e-12);
}

}  // namespace

TEST_CASE("vectors, matrices and batches are one launch without a copy") {
  check(random({5}), random({5}), {1, 0});
  check(random({5}), random({5, 3}), {1, 0});
  check(random({4, 5}), random({5}), {1, 0});
  check(random({4, 5}), random({5, 3}), {1, 0});
  check(random({5, 4}).t(), random({3, 5}).t(), {1, 0});
  check(random({2, 4, 5}), random({2, 5, 3}), {1, 0});
  check(random({2, 4, 5}), random({2, 3, 5}).transpose(1, 2), {1, 0});
  check(random({2, 3, 4, 5}), random({2, 3, 5, 6}), {1, 0});
  check(random({3, 4, 5}), random({5}), {1, 0});
  check(random({5}), random({3, 5, 2}), {1, 0});
  check(random({1, 4, 5}), random({7, 5, 2}), {1, 0});
  check(random({7, 4, 5}), random({1, 5, 2}), {1, 0});
  // Slices of wider rows, and every second row.
  check(random({4, 9}).narrow(1, 2, 5), random({5, 8}).narrow(1, 1, 3), {1, 0});
}

TEST_CASE("one weight for all matrices makes their rows one matrix") {
  const Tensor x = random({6, 4, 5}), w = random({5, 3}), out = matmul(x, w);
  const MatmulPlan plan = plan_matmul(geometry_of(x), geometry_of(w), geometry_of(out));
  CHECK(plan.desc.batch == 1);
  CHECK(plan.desc.m == 24);
  // A row vector of each matrix as well.
  const Tensor y = random({6, 1, 5}), z = matmul(y, w);
  CHECK(plan_matmul(geometry_of(y), geometry_of(w), geometry_of(z)).desc.m == 6);
}

TEST_CASE("heads of attention stay where they lie while launches are few") {
  const Tensor qkv = random({2, 7, 3 * 12}), q = qkv.narrow(2, 0, 12).view({2, 7, 3, 4}).transpose(1, 2);
  const Tensor k = qkv.narrow(2, 12, 12).view({2, 7, 3, 4}).transpose(1, 2);
  check(q, k.transpose(2, 3), {2, 0});
  const Tensor many = random({6, 7, 3 * 12}), mq = many.narrow(2, 0, 12).view({6, 7, 3, 4}).transpose(1, 2);
  const Tensor mk = many.narrow(2, 12, 12).view({6, 7, 3, 4}).transpose(1, 2);
  check(mq, mk.transpose(2, 3), {3, 0});  // 3 heads, a batch of 6
  const Tensor wide = random({6, 2, 5 * 4}), wq = wide.view({6, 2, 5, 4}).transpose(1, 2);
  check(wq, wq.transpose(2, 3), {1, 2});
}

TEST_CASE("operands that no library takes are copied once") {
  check(random({4, 10}).as_strided({4, 5}, {10, 2}), random({5, 3}), {1, 1});
  check(random({1, 5}).expand({4, 5}), random({5, 3}), {1, 1});
  check(random({4, 5}), random({5, 1}).expand({5, 3}), {1, 1});
}

TEST_CASE("random broadcasts and layouts give matmul's result") {
  std::mt19937 rng(11);
  auto size = [&] { return static_cast<int64_t>(1 + rng() % 4); };
  for (int round = 0; round < 200; ++round) {
    const int64_t m = size(), n = size(), k = size();
    std::vector<SymInt> common;
    for (uint32_t i = 0, rank = rng() % 4; i < rank; ++i) common.push_back(size());
    auto operand = [&](int64_t rows, int64_t cols) {
      Dims sizes;
      for (size_t i = common.empty() ? 0 : rng() % (common.size() + 1); i < common.size(); ++i)
        sizes.push_back(rng() % 3 == 0 ? SymInt(1) : common[i]);
      const bool flip = rng() % 2;
      sizes.push_back(flip ? cols : rows), sizes.push_back(flip ? rows : cols);
      Tensor t = randn(sizes, DType::Float64);
      if (flip) t = t.transpose(-1, -2);
      if (sizes.size() > 3 && rng() % 2) t = t.transpose(0, 1).contiguous().transpose(0, 1);
      return t;
    };
    const Tensor a = operand(m, k), b = operand(k, n);
    const Planned got = run_planned(a, b);
    CHECK(largest_difference(got.out, matmul(a, b)) < 1e-12);
  }
}
