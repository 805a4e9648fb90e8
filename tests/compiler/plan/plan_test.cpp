#include <doctest/doctest.h>

#include "compiler/plan/plan_memory.h"

namespace fuselet {
namespace {

using plan::Place;

struct Planned {
  explicit Planned(const std::string& text)
      : graph(ir::parse("graph \"g\" {\n" + text + "}")), facts(graph, Numerics::Fused) {
    fuse::Fusion fusion =
        fuse::fuse(facts, [](const ir::Graph&, const ir::Node& node) { return node.op == OpId::matmul; });
    kernels = lower::lower(facts, fusion);
    order = plan::order_steps(facts, kernels, plan::make_steps(facts, kernels, fusion.calls));
    memory = plan::plan_memory(facts, kernels, order);
  }
  Place place(ir::ValueId v) const { return memory.slots[static_cast<size_t>(v)].place; }
  size_t step_that_makes(ir::ValueId v) const {
    for (size_t i = 0; i < order.steps.size(); ++i) {
      for (ir::ValueId w : order.steps[i].writes) {
        if (w == v) return i;
      }
    }
    return order.steps.size();
  }

  ir::Graph graph;
  lower::GraphFacts facts;
  std::vector<lower::LoweredKernel> kernels;
  plan::Order order;
  plan::MemoryPlan memory;
};

TEST_CASE("a parameter's new value is made in the parameter's memory") {
  Planned p(R"(
  input %0: f32[64] lifted "w"
  input %1: f32[64] argument "g"
  %2: f32[64] = mul(%1, 0.5)
  %3: f32[64] = sub(%0, %2)
  write %0 <- %3
)");
  CHECK(p.order.in_place.size() == 1);
  CHECK(p.memory.copied_writes.empty());
  CHECK(p.place(3) == Place::Input);
  CHECK(p.memory.arena_bytes == 0);
}

TEST_CASE("readers of the old value come before the step that overwrites it") {
  Planned p(R"(
  input %0: f32[8, 8] lifted "w"
  input %1: f32[8, 8] argument "x"
  %2: f32[8, 8] = sub(%0, 1.0)
  %3: f32[8, 8] = matmul(%1, %0)
  write %0 <- %2
  output %3
)");
  REQUIRE(p.order.in_place.size() == 1);
  CHECK(p.step_that_makes(3) < p.step_that_makes(2));
}

TEST_CASE("a reader that needs the new value too makes the write a copy") {
  Planned p(R"(
  input %0: f32[8, 8] lifted "w"
  %1: f32[8, 8] = sub(%0, 1.0)
  %2: f32[8, 8] = matmul(%1, %0)
  write %0 <- %1
  output %2
)");
  CHECK(p.order.in_place.empty());
  CHECK(p.memory.copied_writes.size() == 1);
}

TEST_CASE("reading at other places than are written makes the write a copy") {
  Planned p(R"(
  input %0: f32[8, 8] lifted "w"
  %1: f32[8, 8]{1, 8} = permute(%0, [1, 0])
  %2: f32[8, 8] = add(%0, %1)
  write %0 <- %2
)");
  CHECK(p.order.in_place.empty());
  CHECK(p.memory.copied_writes.size() == 1);
}

TEST_CASE("a row kernel reads its input in several passes, so it does not overwrite it") {
  Planned p(R"(
  input %0: f32[8, 8] lifted "w"
  %1: f32[8, 1] = amax(%0, [1], true)
  %2: f32[8, 8] = sub(%0, %1)
  write %0 <- %2
)");
  CHECK(p.order.in_place.empty());
}

TEST_CASE("an old value that the caller receives is not overwritten") {
  Planned p(R"(
  input %0: f32[8] lifted "w"
  %1: f32[8] = sub(%0, 1.0)
  write %0 <- %1
  output %0
)");
  CHECK(p.order.in_place.empty());
}

TEST_CASE("what may fail comes before what overwrites") {
  Planned p(R"(
  input %0: f32[8] lifted "w"
  input %1: f32[8] argument "x"
  input %2: i64[3] argument "i"
  %3: f32[8] = sub(%0, 1.0)
  %4: f32[3] = index_select(%1, 0, %2)
  write %0 <- %3
  output %4
)");
  REQUIRE(p.order.in_place.size() == 1);
  CHECK(p.step_that_makes(4) < p.step_that_makes(3));
}

TEST_CASE("values that are never alive together share the arena") {
  Planned p(R"(
  input %0: f32[32, 32] argument "x"
  %1: f32[32, 32] = matmul(%0, %0)
  %2: f32[32, 32] = matmul(%1, %0)
  %3: f32[32, 32] = matmul(%2, %0)
  %4: f32[32, 32] = matmul(%3, %0)
  output %4
)");
  CHECK(p.memory.unshared_bytes == 3 * 4096);
  CHECK(p.memory.arena_bytes == 2 * 4096);
  CHECK(p.place(4) == Place::Output);
}

TEST_CASE("a pointwise result takes over the memory of an operand that dies there") {
  Planned p(R"(
  input %0: f32[32, 32] argument "x"
  %1: f32[32, 32] = matmul(%0, %0)
  %2: f32[32, 32] = exp(%1)
  %3: f32[32, 32] = matmul(%2, %0)
  output %3
)");
  CHECK(p.memory.taken_over == 1);
  CHECK(p.memory.arena_bytes == 4096);
}

TEST_CASE("elements of another width take over no memory") {
  // Both fill 64 bytes once rounded up, but element i of one lies where elements of the other do.
  Planned p(R"(
  input %0: f32[2, 4] argument "x"
  input %1: f32[4, 4] argument "w"
  input %2: f64[4, 2] argument "v"
  %3: f32[2, 4] = matmul(%0, %1)
  %4: f64[2, 4] = cast(%3, f64)
  %5: f64[2, 2] = matmul(%4, %2)
  output %5
)");
  CHECK(p.memory.taken_over == 0);
  CHECK(p.memory.slots[3].offset != p.memory.slots[4].offset);
}

TEST_CASE("work on the parts of a product never writes what the product still reads") {
  Planned p(R"(
  input %0: f32[32, 32] argument "x"
  %1: f32[32, 32] = matmul(%0, %0)
  %2: f32[32, 32] = matmul(%1, %1)
  %3: f32[32, 32] = exp(%2)
  %4: f32[32, 32] = matmul(%3, %0)
  output %4
)");
  const plan::Slot &read = p.memory.slots[1], &made = p.memory.slots[3];
  CHECK(read.offset != made.offset);
  CHECK(p.memory.slots[2].offset == made.offset);
}

TEST_CASE("a step that frees memory goes before one that needs more") {
  Planned p(R"(
  input %0: f32[64, 64] argument "x"
  %1: f32[64, 64] = matmul(%0, %0)
  %2: f32[64, 64] = matmul(%1, %0)
  %3: f32[64, 64] = matmul(%0, %1)
  %4: f32[] = sum(%2, [], false, none)
  %5: f32[] = sum(%3, [], false, none)
  %6: f32[] = add(%4, %5)
  output %6
)");
  CHECK(p.memory.arena_bytes <= 3 * 16384);
}

}  // namespace
}  // namespace fuselet
