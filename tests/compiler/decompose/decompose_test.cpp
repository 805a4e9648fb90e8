// Decomposition of graphs: only primitives are left, and they compute the same.
#include "compiler/decompose/decompose.h"

#include <doctest/doctest.h>

#include <cmath>

#include "backends/reference/interpret_graph.h"
#include "compiler/ir/legality.h"
#include "compiler/passes/run_passes.h"
#include "compiler/trace/record.h"
#include "core/decomposition.h"
#include "core/ops/functions.h"

using namespace fuselet;

namespace {

ir::Graph recorded() {
  manual_seed(2);
  Tensor x = randn({6, 8}), w = randn({5, 8}).requires_grad_(), b = randn({5}).requires_grad_();
  Tensor gain = (rand({8}) + 0.5).requires_grad_(), target = randint(0, 5, {6});
  auto f = record(
      [&](const std::vector<Tensor>& args) {
        Tensor h = dropout(layer_norm(args[0], {8}, gain), 0.25);
        Tensor loss = cross_entropy(linear(h, w, b), args[1], {}, "mean", -100, 0.1);
        loss.backward();
        return std::vector<Tensor>{loss, softmax(h, -1)};
      },
      {x, target});
  return f.graph();
}

std::vector<reference::RefTensor> inputs_of(const ir::Graph& g) {
  manual_seed(9);
  std::vector<reference::RefTensor> out;
  for (const ir::Input& in : g.inputs) {
    const TensorMeta& m = g.meta(in.value);
    Tensor t = m.dtype == DType::Int64 ? randint(0, 5, m.sizes) : rand(m.sizes) + 0.1;
    out.push_back(reference::to_reference(t));
  }
  return out;
}

// In double precision two right graphs differ by rounding alone.
void check_same_values(const ir::Graph& a, const ir::Graph& b) {
  GeneratorState base{3, 7};
  reference::GraphResult x = reference::interpret(a, inputs_of(a), {}, base),
                         y = reference::interpret(b, inputs_of(b), {}, base);
  auto compare = [](const std::vector<reference::RefTensor>& p, const std::vector<reference::RefTensor>& q) {
    REQUIRE(p.size() == q.size());
    for (size_t i = 0; i < p.size(); ++i) {
      REQUIRE(p[i].sizes == q[i].sizes);
      for (size_t k = 0; k < p[i].values.size(); ++k) CHECK(std::abs(p[i].values[k] - q[i].values[k]) < 1e-12);
    }
  };
  compare(x.outputs, y.outputs);
  compare(x.grads, y.grads);
}

}  // namespace

TEST_CASE("one level of linear") {
  bool changed = false;
  ir::Graph g = decompose_once(ir::parse(R"(graph "g" {
  input %0: f32[2, 3] argument "0"
  input %1: f32[4, 3] lifted "w"
  input %2: f32[4] lifted "b"
  %3: f32[2, 4] = linear(%0, %1, %2)  # 0 @ a.cpp:5
  output %3
}
)"),
                               &changed);
  CHECK(changed);
  CHECK(ir::print(g) == R"(graph "g" {
  input %0: f32[2, 3] argument "0"
  input %1: f32[4, 3] lifted "w"
  input %2: f32[4] lifted "b"
  %3: f32[3, 4]{1, 3} = transpose(%1, 0, 1)  # 0 @ a.cpp:5
  %4: f32[2, 4] = matmul(%0, %3)  # 0 @ a.cpp:5
  %5: f32[2, 4] = add(%4, %2)  # 0 @ a.cpp:5
  output %5
}
)");
}

TEST_CASE("a recorded forward and backward decompose to primitives that compute the same") {
  ir::Graph g = recorded(), prims = decompose(g);
  ir::verify(prims);
  for (const ir::Node& node : prims.nodes) {
    CHECK_MESSAGE(!decomposition_of(op_of(node.op)), op_of(node.op).name);
    CHECK(!node.origin.operators.empty());
  }
  CHECK(prims.nodes.size() > g.nodes.size());
  CHECK(prims.draws == g.draws);
  check_same_values(g, prims);
  CHECK(ir::print(decompose(prims)) == ir::print(prims));
}

TEST_CASE("the cleaning passes leave the values of a decomposed graph alone") {
  ir::Graph g = decompose(recorded()), before = g;
  run_passes(g, [](std::string_view, const ir::Graph& after, bool) { ir::verify(after, ir::Stage::Decompose); });
  ir::verify(g, ir::Stage::Passes);
  CHECK(g.nodes.size() < before.nodes.size());
  check_same_values(before, g);
}
