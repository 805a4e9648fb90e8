// Generated kernels against eager ones, bit for bit, at sizes around the edges of vectors, chunks and leaves.
#include <doctest/doctest.h>

#include "backends/threads.h"
#include "core/generator.h"
#include "core/ops/functions.h"
#include "tests/kernel_builder.h"
#include "tests/backends/cpu/tensors.h"

namespace fuselet::test {
namespace {

using kernel::Combine;
using kernel::Structure;

constexpr int64_t kSizes[] = {0, 1, 15, 16, 17, 511, 512, 513, 1027};

Tensor normal(std::vector<int64_t> sizes, DType dtype = DType::Float32) {
  Dims dims;
  for (int64_t n : sizes) dims.push_back(n);
  return cast(randn(DimsView(dims)), dtype);
}

}  // namespace

TEST_CASE("a generated pointwise chain has eager's bits") {
  manual_seed(1);
  for (int64_t n : kSizes) {
    CAPTURE(n);
    const Tensor x = normal({n}), y = normal({n}), out = zeros_like(x);
    NestBuilder b(Structure::Pointwise, {n});
    const int vx = b.load(0, kFloat32, {1}), vy = b.load(1, kFloat32, {1});
    const int sum = b.formula("add", {vx, vy});
    const int gelu = b.formula("gelu_erf", {sum});
    const int half = b.constant(0.7);
    b.store(2, b.formula("mul", {gelu, half}), {1});
    REQUIRE(launch(make_kernel("add_gelu_erf_mul", {{kFloat32, n, false}, {kFloat32, n, false}, {kFloat32, n, true}},
                               {b.nest}),
                   {{x, y, out}}) == 0);
    CHECK(same_bits(out, mul(gelu_erf(add(x, y)), 0.7)));
  }
}

TEST_CASE("generated softmax has eager's bits") {
  manual_seed(2);
  for (int64_t n : kSizes) {
    CAPTURE(n);
    const int64_t rows = 5;
    const Tensor x = normal({rows, n}), out = zeros_like(x);
    NestBuilder b(Structure::Rows, {rows, n});
    const int vx = b.load(0, kFloat32, {n, 1});
    const int top = b.reduce(Combine::Max, vx);
    const int e = b.formula("exp", {b.formula("sub", {vx, top})});
    const int sum = b.reduce(Combine::Sum, e);
    b.store(1, b.formula("div", {e, sum}), {n, 1});
    REQUIRE(launch(make_kernel("softmax", {{kFloat32, rows * n, false}, {kFloat32, rows * n, true}}, {b.nest}),
                   {{x, out}}) == 0);
    CHECK(same_bits(out, softmax(x, -1)));
  }
}

}  // namespace fuselet::test
