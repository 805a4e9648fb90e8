// Dtypes, views and sources made explicit: text in, text out.
#include <doctest/doctest.h>

#include "compiler/decompose/decompose.h"
#include "compiler/ir/legality.h"

using namespace fuselet;

namespace {

void becomes(const std::string& inputs, const std::string& body, const std::string& expected) {
  auto text = [&](const std::string& nodes) { return "graph \"g\" {\n" + inputs + nodes + "}\n"; };
  ir::Graph g = ir::parse(text(body));
  ir::verify(g);
  ir::Graph prims = decompose(g);
  ir::verify(prims, ir::Stage::Decompose);
  CHECK(ir::print(prims) == text(expected));
}

const std::string kHalf = "  input %0: bf16[4] argument \"0\"\n";
const std::string kFloat = "  input %0: f32[4] argument \"0\"\n";
const std::string kBytes = "  input %0: i8[4] argument \"0\"\n";
const std::string kMatrix = "  input %0: f32[3, 4] argument \"0\"\n";

}  // namespace

TEST_CASE("a 16-bit operator rounds once, between boundaries") {
  becomes(
      kHalf, "  %1: bf16[4] = sigmoid_grad(%0, %0)\n  output %1\n",
      "  %1: f32[4] = cast(%0, f32) boundary\n  %2: f32[4] = cast(%0, f32) boundary\n  %3: f32[4] = sub(1, %2)\n"
      "  %4: f32[4] = mul(%2, %3)\n  %5: f32[4] = mul(%1, %4)\n  %6: bf16[4] = cast(%5, bf16) boundary\n  output %6\n");
  becomes(kHalf, "  %1: bf16[] = sum(%0, [], false, none)\n  output %1\n",
          "  %1: f32[4] = cast(%0, f32) boundary\n  %2: f32[] = sum(%1, [0], false, none)\n"
          "  %3: bf16[] = cast(%2, bf16) boundary\n  output %3\n");
}

TEST_CASE("a cast of the program is no boundary, and a boundary of the text stays one") {
  becomes(kFloat, "  %1: bf16[4] = cast(%0, bf16)\n  %2: f32[4] = cast(%1, f32) boundary\n  output %2\n",
          "  %1: bf16[4] = cast(%0, bf16)\n  %2: f32[4] = cast(%1, f32) boundary\n  output %2\n");
}

TEST_CASE("a copy into 16 bits rounds because the program says so") {
  becomes(kHalf + "  input %1: f32[4] argument \"1\"\n", "  %2: bf16[4] = copy(%0, %1)\n  output %2\n",
          "  %2: bf16[4] = cast(%1, bf16)\n  %3: bf16[4] = clone(%2, false)\n  output %3\n");
}

TEST_CASE("narrow integers are calculated in int64") {
  becomes(kBytes, "  %1: i8[4] = add(%0, 3)\n  output %1\n",
          "  %1: i64[4] = cast(%0, i64)\n  %2: i64[4] = add(%1, 3)\n  %3: i8[4] = cast(%2, i8)\n  output %3\n");
  becomes(kBytes, "  %1: f32[4] = div(%0, 2)\n  output %1\n",
          "  %1: f32[4] = cast(%0, f32)\n  %2: f32[4] = div(%1, 2)\n  output %2\n");
}

TEST_CASE("operands meet in one dtype, bools among themselves stay bools") {
  becomes("  input %0: f32[4] argument \"0\"\n  input %1: i64[4] argument \"1\"\n  input %2: b8[4] argument \"2\"\n",
          "  %3: f32[4] = mul(%0, %1)\n  %4: b8[4] = lt(%2, %0)\n  %5: b8[4] = logical_or(%2, %2)\n  output %3\n"
          "  output %4\n  output %5\n",
          "  %3: f32[4] = cast(%1, f32)\n  %4: f32[4] = mul(%0, %3)\n  %5: f32[4] = cast(%2, f32)\n  %6: b8[4] = "
          "lt(%5, %0)\n"
          "  %7: b8[4] = logical_or(%2, %2)\n  output %4\n  output %6\n  output %7\n");
}

TEST_CASE("a condition is bool, and a choice of bools is one of integers") {
  becomes(kFloat, "  %1: f32[4] = where(%0, %0, 1)\n  output %1\n",
          "  %1: b8[4] = ne(%0, 0)\n  %2: f32[4] = where(%1, %0, 1)\n  output %2\n");
  becomes("  input %0: b8[4] argument \"0\"\n", "  %1: b8[4] = where(%0, true, false)\n  output %1\n",
          "  %1: i64[4] = where(%0, 1, 0)\n  %2: b8[4] = cast(%1, b8)\n  output %2\n");
}

TEST_CASE("views have one spelling") {
  becomes(kMatrix, "  %1: f32[4] = select(%0, 0, -1)\n  %2: f32[4, 1] = unsqueeze(%1, 1)\n  output %2\n",
          "  %1: f32[1, 4] = slice(%0, 0, 2, 3, 1)\n  %2: f32[4] = view(%1, [4])\n  %3: f32[4, 1] = view(%2, [4, 1])\n"
          "  output %3\n");
  becomes(kMatrix, "  %1: f32[4, 3]{1, 4} = transpose(%0, -1, -2)\n  %2: f32[4, 3]{1, 4} = alias(%1)\n  output %2\n",
          "  %1: f32[4, 3]{1, 4} = permute(%0, [1, 0])\n  output %1\n");
  becomes(kMatrix, "  %1: f32[2, 4] = as_strided(%0, [2, 4], [4, 1], 4)\n  output %1\n",
          "  %1: f32[2, 4] = slice(%0, 0, 1, 3, 1)\n  output %1\n");
  becomes(kMatrix, "  %1: f32[2, 3] = as_strided(%0, [2, 3], [3, 1], 4)\n  output %1\n",
          "  %1: f32[12] = view(%0, [12])\n  %2: f32[6] = slice(%1, 0, 4, 10, 1)\n  %3: f32[2, 3] = view(%2, [2, 3])\n"
          "  output %3\n");
  becomes(kMatrix, "  %1: f32[2, 2]{4, 1} = as_strided(%0, [2, 2], [4, 1], 5)\n  output %1\n",
          "  %1: f32[2, 2]{4, 1} = as_strided(%0, [2, 2], [4, 1], 5)\n  output %1\n");
}

TEST_CASE("sources are written out, and counts are in int64 from 0") {
  becomes(kFloat, "  %1: f32[2] = arange(2.0, 3.0, 0.5, f32, none)\n  output %1\n",
          "  %1: i64[2] = arange(2, none, 1, i64, @cpu)\n  %2: f64[2] = cast(%1, f64)\n  %3: f64[2] = mul(%2, 0.5)\n"
          "  %4: f64[2] = add(%3, 2.0)\n  %5: f32[2] = cast(%4, f32)\n  output %5\n");
  becomes(kFloat, "  %1: bf16[2] = randn([2], bf16, none) draw 0\n  output %1\n",
          "  %1: f32[2] = randn([2], f32, @cpu) draw 0\n  %2: bf16[2] = cast(%1, bf16)\n  output %2\n");
}

TEST_CASE("a value whose strides are read keeps them, any other takes what comes") {
  std::string permuted = "  input %0: f32[3, 4]{1, 3} argument \"0\"\n";
  becomes(permuted, "  %1: f32[3, 4] = log_softmax_grad(%0, %0, 1)\n  %2: f32[12] = view(%1, [12])\n  output %2\n",
          "  %1: f32[3, 1] = sum(%0, [1], true, none)\n  %2: f32[3, 4]{1, 3} = exp(%0)\n  %3: f32[3, 4]{1, 3} = "
          "mul(%2, %1)\n"
          "  %4: f32[3, 4]{1, 3} = sub(%0, %3)\n  %5: f32[3, 4] = clone(%4, true)\n  %6: f32[12] = view(%5, [12])\n"
          "  output %6\n");
  becomes(permuted,
          "  %1: f32[3, 4] = log_softmax_grad(%0, %0, 1)\n  %2: f32[] = sum(%1, [], false, none)\n  output %2\n",
          "  %1: f32[3, 1] = sum(%0, [1], true, none)\n  %2: f32[3, 4]{1, 3} = exp(%0)\n  %3: f32[3, 4]{1, 3} = "
          "mul(%2, %1)\n"
          "  %4: f32[3, 4]{1, 3} = sub(%0, %3)\n  %5: f32[] = sum(%4, [0, 1], false, none)\n  output %5\n");
}

TEST_CASE("strided views and writes that are slices become slices") {
  std::string both = kMatrix + "  input %1: f32[4] argument \"1\"\n";
  becomes(kMatrix, "  %1: f32[3, 2]{4, 2} = as_strided(%0, [3, 2], [4, 2], 1)\n  output %1\n",
          "  %1: f32[3, 2]{4, 2} = slice(%0, 1, 1, 4, 2)\n  output %1\n");
  becomes(kMatrix, "  %1: f32[3]{4} = as_strided(%0, [3], [4], 2)\n  output %1\n",
          "  %1: f32[3, 1]{4, 1} = slice(%0, 1, 2, 3, 1)\n  %2: f32[3]{4} = view(%1, [3])\n  output %2\n");
  becomes(both, "  %2: f32[3, 4] = as_strided_scatter(%0, %1, [4], [1], 8)\n  output %2\n",
          "  %2: f32[1, 4] = view(%1, [1, 4])\n  %3: f32[3, 4] = slice_scatter(%0, %2, 0, 2, 3, 1)\n  output %3\n");
  // The diagonal, and a row that begins in the middle of one.
  for (const char* line : {"  %2: f32[3, 4] = as_strided_scatter(%0, %1, [4], [1], 3)\n  output %2\n",
                           "  %2: f32[3]{5} = as_strided(%0, [3], [5], 0)\n  output %2\n"}) {
    becomes(both, line, line);
  }
}
