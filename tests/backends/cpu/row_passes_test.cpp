// In which pass the statements of a row run, and what is kept for later ones.
#include "backends/cpu/codegen/row_passes.h"

#include <doctest/doctest.h>

#include "tests/kernel_builder.h"

namespace fuselet::test {
namespace {

using cpu::codegen::row_passes;
using cpu::codegen::RowPasses;
using kernel::Combine;
using kernel::Structure;
using Numbers = std::vector<int>;

// x centred on the largest value of f(x).
struct Centred {
  NestBuilder b{Structure::Rows, {8, 1000}};
  int x = b.load(0, kFloat32, {1000, 1}), value, top, result;

  explicit Centred(const char* f) {
    value = b.formula(f, {x});
    top = b.reduce(Combine::Max, value);
    result = b.formula("sub", {value, top});
  }
};

}  // namespace

TEST_CASE("what is cheap is calculated again") {
  Centred c("neg");
  const int store = c.b.store(1, c.result, {1000, 1});
  const RowPasses r = row_passes(c.b.nest, true);
  REQUIRE(r.passes.size() == 2);
  CHECK(r.passes[0].body == Numbers{c.x, c.value});
  CHECK(r.passes[0].reduces == Numbers{c.top});
  CHECK(r.passes[0].keeps.empty());
  CHECK(r.passes[1].body == Numbers{c.x, c.value, c.result, store});
}

TEST_CASE("what is dear is kept, unless nothing may be or the row is too long") {
  Centred c("gelu_erf");
  const int store = c.b.store(1, c.result, {1000, 1});
  const RowPasses kept = row_passes(c.b.nest, true);
  CHECK(kept.passes[0].keeps == Numbers{c.value});
  CHECK(kept.passes[1].reads == Numbers{c.value});
  CHECK(kept.passes[1].body == Numbers{c.result, store});
  CHECK(row_passes(c.b.nest, false).passes[0].keeps.empty());
  c.b.nest.dims.back() = 100000;
  CHECK(row_passes(c.b.nest, true).passes[0].keeps.empty());
}

TEST_CASE("of a dear chain the end is kept, not its parts") {
  Centred c("gelu_erf");
  const int scaled = c.b.formula("mul", {c.value, c.b.load(1, kFloat32, {1000, 1})});
  const int sum = c.b.reduce(Combine::Sum, scaled);
  c.b.store(2, c.b.formula("sub", {scaled, sum}), {1000, 1});
  const RowPasses r = row_passes(c.b.nest, true);
  CHECK(r.passes[0].keeps == Numbers{scaled});
}

TEST_CASE("a dear formula of a later pass joins one of the same operand, and none of another") {
  for (bool same : {true, false}) {
    CAPTURE(same);
    Centred c("gelu_erf");
    const int operand = same ? c.x : c.result;
    const int slope = c.b.formula("gelu_erf_slope", {operand});
    c.b.store(1, c.b.formula("mul", {slope, c.top}), {1000, 1});
    const RowPasses r = row_passes(c.b.nest, true);
    CHECK(r.passes[0].keeps == Numbers{same ? slope : c.value});
    CHECK((r.passes[1].reads == Numbers{same ? slope : c.value}));
  }
}

}  // namespace fuselet::test
