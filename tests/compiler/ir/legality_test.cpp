// What may not stand in a graph after a stage is named: stage, node and reason.
#include "compiler/ir/legality.h"

#include <doctest/doctest.h>

using namespace fuselet;

namespace {

ir::Graph with(const std::string& body) {
  return ir::parse("graph \"g\" {\n  input %0: f32[4] argument \"0\"\n  input %1: bf16[4] argument \"1\"\n" + body +
                   "}\n");
}

std::string reason(const std::string& line) {
  ir::Graph g = with(line);
  return ir::why_illegal(g, g.nodes.back(), ir::Stage::Decompose);
}

}  // namespace

TEST_CASE("after decompose, operators with a decomposition and mixed dtypes are illegal") {
  CHECK(reason("  %2: f32[4] = relu(%0)\n") == "an operator that has a decomposition");
  CHECK(reason("  %2: bf16[4] = exp(%1)\n") == "a result of dtype bfloat16");
  CHECK(reason("  %2: f32[4] = add(%0, %1)\n") == "an operand of dtype bfloat16");
  CHECK(reason("  %2: f64[4] = cast(%0, f64)\n  %3: f64[4] = mul(%0, %2)\n") ==
        "operands of dtypes float32 and float64");
  CHECK(reason("  %2: f32[4] = cast(%0, f32)\n") == "a cast to the same dtype");
  CHECK(reason("  %2: bf16[] = sum(%1, [0], false, none)\n") == "an operand of dtype bfloat16");
  CHECK(reason("  %2: f64[] = sum(%0, [0], false, f64)\n") == "a sum with a dtype of its own");
  CHECK(reason("  %2: i32[4] = cast(%0, i32)\n  %3: f32[4] = gather(%0, 0, %2)\n") == "an index that is not int64");
  CHECK(reason("  %2: f32[8] = cat([%0, %1], 0)\n") == "parts of several dtypes");
}

TEST_CASE("after decompose, views and sources are spelled out") {
  CHECK(reason("  %2: f32[2, 2] = view(%0, [2, -1])\n") == "a negative number");
  CHECK(reason("  %2: f32[2] = slice(%0, 0, 2, none, 1)\n") == "a bound that is not written out");
  CHECK(reason("  %2: f32[4] = view(%0, [4])\n") == "a view that changes nothing");
  CHECK(reason("  %2: f32[4] = full([4], 1.0, f32, none)\n") == "no device");
  CHECK(reason("  %2: i64[2] = arange(1, 3, 1, i64, @cpu)\n") == "a count that does not begin at 0");
}

TEST_CASE("what is explicit is legal") {
  for (const char* line :
       {"  %2: f32[4] = exp(%0)\n", "  %2: b8[4] = lt(%0, 1.0)\n", "  %2: f32[4] = cast(%1, f32) boundary\n",
        "  %2: b8[4] = ne(%0, 0)\n  %3: b8[4] = logical_and(%2, %2)\n",
        "  %2: b8[4] = ne(%0, 0)\n  %3: f32[4] = where(%2, %0, 0)\n", "  %2: f32[2] = slice(%0, 0, 2, 4, 1)\n",
        "  %2: f32[4] = rand([4], f32, @cpu) draw 0\n"}) {
    CAPTURE(line);
    CHECK(reason(line) == "");
  }
}

TEST_CASE("verification names the stage and the node; each stage is stricter than the one before") {
  ir::Graph g = with("  %2: f32[4] = exp(%0)\n  %3: f32[4] = relu(%0)\n  output %3\n");
  CHECK_NOTHROW(ir::verify(g, ir::Stage::Trace));
  CHECK_THROWS_WITH_AS(
      ir::verify(g, ir::Stage::Decompose),
      doctest::Contains("graph 'g' after decompose, node 1 (relu): an operator that has a decomposition"),
      InternalError);
  ir::Graph unread = with("  %2: f32[4] = exp(%0)\n  %3: f32[4] = neg(%0)\n  output %3\n");
  CHECK_NOTHROW(ir::verify(unread, ir::Stage::Decompose));
  CHECK_THROWS_WITH_AS(ir::verify(unread, ir::Stage::Passes),
                       doctest::Contains("after passes, node 0 (exp): a value that nobody reads"), InternalError);
}
