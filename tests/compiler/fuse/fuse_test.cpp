#include "compiler/fuse/fuse.h"

#include <doctest/doctest.h>

#include "compiler/lower/lower.h"

namespace fuselet {
namespace {

using kernel::Structure;

struct Fused {
  explicit Fused(const std::string& text, fuse::TakesPostWork takes_post_work = nullptr)
      : graph(ir::parse("graph \"g\" {\n" + text + "}")),
        facts(graph, Numerics::Fused),
        fusion(fuse::fuse(facts, takes_post_work)) {}

  size_t kernels() const { return fusion.kernels.size(); }
  size_t stages(size_t k) const { return fusion.kernels[k].stages.size(); }
  const kernel::Nest& nest(size_t k, size_t stage = 0, size_t i = 0) const {
    return fusion.groups[static_cast<size_t>(fusion.kernels[k].stages[stage][i])].nest.nest;
  }
  bool refuses(const std::string& reason) const {
    for (const fuse::FusionRefusal& r : fusion.refusals) {
      if (r.reason.find(reason) != std::string::npos) return true;
    }
    return false;
  }

  ir::Graph graph;
  lower::GraphFacts facts;
  fuse::Fusion fusion;
};

TEST_CASE("a chain of pointwise operators is one kernel that reads once and writes once") {
  Fused f(R"(
  input %0: f32[64, 100] argument "x"
  %1: f32[64, 100] = exp(%0)
  %2: f32[64, 100] = mul(%1, %0)
  %3: f32[64, 100] = add(%2, 1.5)
  output %3
)");
  REQUIRE(f.kernels() == 1);
  CHECK(f.nest(0).structure == Structure::Pointwise);
  CHECK(f.nest(0).dims == std::vector<int64_t>{6400});
  CHECK(f.fusion.bytes_fused == 2 * 25600);
  CHECK(f.fusion.bytes_unfused == 7 * 25600);
}

TEST_CASE("softmax is one kernel over rows, with both reductions") {
  Fused f(R"(
  input %0: f32[64, 100] argument "x"
  %1: f32[64, 1] = amax(%0, [1], true)
  %2: f32[64, 100] = sub(%0, %1)
  %3: f32[64, 100] = exp(%2)
  %4: f32[64, 1] = sum(%3, [1], true, none)
  %5: f32[64, 100] = div(%3, %4)
  output %5
)");
  REQUIRE(f.kernels() == 1);
  CHECK(f.nest(0).structure == Structure::Rows);
  CHECK(f.nest(0).dims == std::vector<int64_t>{64, 100});
  CHECK(f.fusion.bytes_fused == 2 * 25600);
}

TEST_CASE("a reduction along the middle of three dims runs over columns") {
  Fused f(R"(
  input %0: f32[8, 50, 33] argument "x"
  %1: f32[8, 1, 33] = amax(%0, [1], true)
  %2: f32[8, 50, 33] = sub(%0, %1)
  output %2
)");
  REQUIRE(f.kernels() == 1);
  CHECK(f.nest(0).structure == Structure::Columns);
  CHECK(f.nest(0).dims == std::vector<int64_t>{8, 50, 33});
}

TEST_CASE("sums over rows and over columns of one tensor share a pass") {
  Fused f(R"(
  input %0: f32[64, 100] argument "x"
  %1: f32[64, 100] = mul(%0, %0)
  %2: f32[64] = sum(%1, [1], false, none)
  %3: f32[100] = sum(%1, [0], false, none)
  output %2
  output %3
)");
  REQUIRE(f.kernels() == 1);
  CHECK(f.nest(0).structure == Structure::RowsAndColumns);
}

TEST_CASE("reductions over different axes do not share a nest, and say so") {
  Fused f(R"(
  input %0: f32[40, 50, 60] argument "x"
  %1: f32[40, 50] = sum(%0, [2], false, none)
  %2: f32[50, 60] = sum(%0, [0], false, none)
  output %1
  output %2
)");
  CHECK(f.kernels() == 2);
  CHECK(f.refuses("reduces over different axes"));
}

TEST_CASE("a producer is computed where a permuted and sliced view of it is read") {
  Fused f(R"(
  input %0: f32[64, 100] argument "x"
  input %1: f32[50, 64] argument "y"
  %2: f32[64, 100] = exp(%0)
  %3: f32[100, 64]{1, 100} = permute(%2, [1, 0])
  %4: f32[50, 64]{1, 100} = slice(%3, 0, 0, 50, 1)
  %5: f32[50, 64] = add(%4, %1)
  output %5
)");
  CHECK(f.kernels() == 1);
}

TEST_CASE("a bias is read along its own dimension") {
  Fused f(R"(
  input %0: f32[64, 100] argument "x"
  input %1: f32[100] argument "b"
  %2: f32[64, 100] = add(%0, %1)
  %3: f32[64, 100] = relu(%2)
  output %3
)");
  REQUIRE(f.kernels() == 1);
  CHECK(f.nest(0).dims == std::vector<int64_t>{64, 100});
  CHECK(f.nest(0).body[1].access.strides == std::vector<int64_t>{0, 1});
}

TEST_CASE("a scalar made of a sum over all rows is a second stage, not part of the rows") {
  Fused f(R"(
  input %0: f32[64, 100] argument "x"
  %1: f32[64] = sum(%0, [1], false, none)
  %2: f32[64] = exp(%1)
  %3: f32[] = sum(%2, [], false, none)
  %4: f32[] = log(%3)
  output %4
)");
  REQUIRE(f.kernels() == 1);
  REQUIRE(f.stages(0) == 2);
  CHECK(f.nest(0, 1).dims == std::vector<int64_t>{64});
}

TEST_CASE("a long reduction is split among threads, and what needs its result runs after it") {
  Fused f(R"(
  input %0: f32[1000, 1000] argument "x"
  %1: f32[] = sum(%0, [], false, none)
  %2: f32[1000, 1000] = div(%0, %1)
  output %2
)");
  REQUIRE(f.kernels() == 2);
  CHECK(f.nest(0).structure == Structure::SplitRows);
  CHECK(f.nest(1).structure == Structure::Pointwise);
  CHECK(f.refuses("would leave each of a few long rows to one thread"));
}

TEST_CASE("updates of many parameters are one stage of one kernel") {
  std::string inputs, nodes, outputs;
  for (int i = 0; i < 50; ++i) {
    inputs += concat("  input %", i, ": f32[", 10 + i, ", 7] argument \"p", i, "\"\n");
    nodes += concat("  %", 50 + 2 * i, ": f32[", 10 + i, ", 7] = mul(%", i, ", 0.5)\n");
    nodes += concat("  %", 51 + 2 * i, ": f32[", 10 + i, ", 7] = sub(%", i, ", %", 50 + 2 * i, ")\n");
    outputs += concat("  output %", 51 + 2 * i, "\n");
  }
  Fused f(inputs + nodes + outputs);
  REQUIRE(f.kernels() == 1);
  REQUIRE(f.stages(0) == 1);
  CHECK(f.fusion.kernels[0].stages[0].size() == 50);
}

TEST_CASE("a group does not swallow both sides of a product between them") {
  Fused f(R"(
  input %0: f32[64, 64] argument "x"
  %1: f32[64, 64] = exp(%0)
  %2: f32[64, 64] = matmul(%1, %1)
  %3: f32[64, 64] = add(%2, %1)
  output %3
)");
  CHECK(f.kernels() == 2);
  CHECK(f.fusion.calls.size() == 1);
  CHECK(f.refuses("another kernel has to run between them"));
}

TEST_CASE("a gather reads at the index, also what its own kernel computes") {
  Fused f(R"(
  input %0: f32[64, 100] argument "x"
  input %1: i64[64, 1] argument "t"
  %2: f32[64, 1] = amax(%0, [1], true)
  %3: f32[64, 100] = sub(%0, %2)
  %4: f32[64, 1] = gather(%3, 1, %1)
  output %4
)");
  REQUIRE(f.kernels() == 1);
  bool gathers = false;
  for (const kernel::Statement& s : f.nest(0).body)
    gathers |= s.kind == kernel::Kind::LoadAt && s.indices[0].size == 100;
  CHECK(gathers);
}

TEST_CASE("what no loop structure can reduce in eager's order is a call") {
  Fused f(R"(
  input %0: f32[4, 3, 5] argument "x"
  %1: f32[4, 3, 5] = relu(%0)
  %2: f32[3] = sum(%1, [0, 2], false, none)
  output %2
)");
  CHECK(f.kernels() == 1);
  CHECK(f.fusion.calls == std::vector<int32_t>{1});
}

bool is_product(const ir::Graph&, const ir::Node& node) { return node.op == OpId::matmul; }

TEST_CASE("a pointwise nest over a product runs on each part of it") {
  Fused f(R"(
  input %0: f32[64, 64] argument "x"
  input %1: f32[64] argument "b"
  %2: f32[64, 64] = matmul(%0, %0)
  %3: f32[64, 64] = add(%2, %1)
  %4: f32[64, 64] = exp(%3)
  output %4
)",
          is_product);
  REQUIRE(f.kernels() == 1);
  CHECK(f.fusion.calls.empty());
  CHECK(f.fusion.kernels[0].call == 0);
  CHECK(f.nest(0).structure == Structure::Tile);
  CHECK(f.nest(0).dims == std::vector<int64_t>{64, 64});
}

TEST_CASE("a nest that reads a product transposed, or reduces it, waits for all of it") {
  Fused f(R"(
  input %0: f32[64, 64] argument "x"
  %1: f32[64, 64] = matmul(%0, %0)
  %2: f32[64, 64]{1, 64} = permute(%1, [1, 0])
  %3: f32[64, 64] = add(%2, %0)
  %4: f32[64, 64] = matmul(%0, %3)
  %5: f32[64] = sum(%4, [1], false, none)
  output %3
  output %5
)",
          is_product);
  CHECK(f.fusion.calls.size() == 2);
}

TEST_CASE("empty tensors lower") {
  Fused f(R"(
  input %0: f32[0, 5] argument "x"
  %1: f32[0, 5] = exp(%0)
  %2: f32[5] = sum(%1, [0], false, none)
  output %1
  output %2
)");
  CHECK(f.kernels() >= 1);
}

}  // namespace
}  // namespace fuselet
