#include "compiler/passes/simplify_views.h"

#include "compiler/passes/eliminate_dead_code.h"
#include "tests/compiler/passes/check_pass.h"

using namespace fuselet;
using namespace fuselet::testing;

namespace {

bool simplify_and_clean(ir::Graph& g) {
  bool changed = simplify_views(g);
  return eliminate_dead_code(g) || changed;
}

const std::string kMatrix = "  input %1: f32[4, 6] argument \"1\"\n";

}  // namespace

TEST_CASE("simplify_views makes one view of two") {
  check_pass(simplify_and_clean,
             kMatrix + "  %2: f32[24] = view(%1, [24])\n  %3: f32[3, 8] = view(%2, [3, 8])\n  output %3\n",
             kMatrix + "  %2: f32[3, 8] = view(%1, [3, 8])\n  output %2\n");
  check_pass(simplify_and_clean,
             kMatrix +
                 "  %2: f32[6, 4]{1, 6} = permute(%1, [1, 0])\n  %3: f32[4, 6] = permute(%2, [1, 0])\n"
                 "  %4: f32[4, 6] = exp(%3)\n  output %4\n",
             kMatrix + "  %2: f32[4, 6] = exp(%1)\n  output %2\n");
  check_pass(simplify_and_clean,
             kMatrix +
                 "  %2: f32[4, 3]{6, 2} = slice(%1, 1, 1, 6, 2)\n  %3: f32[4, 2]{6, 2} = slice(%2, 1, 1, 3, 1)\n"
                 "  output %3\n",
             kMatrix + "  %2: f32[4, 2]{6, 2} = slice(%1, 1, 3, 6, 2)\n  output %2\n");
}

TEST_CASE("simplify_views keeps slices of several dimensions, and a view that needs a copy below it") {
  check_left_alone(simplify_views, kMatrix +
                                       "  %2: f32[2, 6] = slice(%1, 0, 1, 3, 1)\n"
                                       "  %3: f32[2, 2]{6, 1} = slice(%2, 1, 1, 3, 1)\n  output %3\n");
  check_left_alone(simplify_views,
                   kMatrix +
                       "  %2: f32[6, 4]{1, 6} = permute(%1, [1, 0])\n"
                       "  %3: f32[6, 4] = clone(%2, true)\n  %4: f32[24] = view(%3, [24])\n  output %4\n");
}

TEST_CASE("simplify_views takes a slice before the operator that it reads from") {
  check_pass(
      simplify_and_clean,
      kMatrix +
          "  input %2: f32[6] argument \"2\"\n  %3: f32[4, 6] = mul(%1, %2)  # 1\n"
          "  %4: f32[2, 6] = slice(%3, 0, 1, 3, 1)  # 2\n  %5: f32[] = sum(%4, [0, 1], false, none)\n  output %5\n",
      kMatrix +
          "  input %2: f32[6] argument \"2\"\n  %3: f32[2, 6] = slice(%1, 0, 1, 3, 1)  # 1 2\n"
          "  %4: f32[2, 6] = mul(%3, %2)  # 1 2\n  %5: f32[] = sum(%4, [0, 1], false, none)\n  output %5\n");
}

TEST_CASE("simplify_views permutes operands, those that broadcast too") {
  check_pass(simplify_and_clean,
             kMatrix +
                 "  input %2: f32[6] argument \"2\"\n  %3: f32[4, 6] = mul(%1, %2)\n"
                 "  %4: f32[6, 4]{1, 6} = permute(%3, [1, 0])\n  %5: f32[6, 4]{1, 6} = exp(%4)\n"
                 "  %6: f32[] = sum(%5, [0, 1], false, none)\n  output %6\n",
             kMatrix +
                 "  input %2: f32[6] argument \"2\"\n  %3: f32[6, 4]{1, 6} = permute(%1, [1, 0])\n"
                 "  %4: f32[1, 6] = view(%2, [1, 6])\n  %5: f32[6, 1]{1, 6} = permute(%4, [1, 0])\n"
                 "  %6: f32[6, 4]{1, 6} = mul(%3, %5)\n  %7: f32[6, 4]{1, 6} = exp(%6)\n"
                 "  %8: f32[] = sum(%7, [0, 1], false, none)\n  output %8\n");
}

TEST_CASE("simplify_views leaves an operator with another reader, a cell, or a result's strides") {
  check_left_alone(simplify_views, kMatrix +
                                       "  %2: f32[4, 6] = exp(%1)\n  %3: f32[2, 6] = slice(%2, 0, 1, 3, 1)\n"
                                       "  %4: f32[] = sum(%3, [0, 1], false, none)\n  output %2\n  output %4\n");
  check_left_alone(simplify_views, kMatrix +
                                       "  cell $0 \"lr\"\n  %2: f32[4, 6] = mul(%1, $0)\n"
                                       "  %3: f32[2, 6] = slice(%2, 0, 1, 3, 1)\n"
                                       "  %4: f32[] = sum(%3, [0, 1], false, none)\n  output %4\n");
  check_left_alone(simplify_views,
                   kMatrix + "  %2: f32[4, 6] = exp(%1)\n  %3: f32[2, 6] = slice(%2, 0, 1, 3, 1)\n  output %3\n");
}

TEST_CASE("simplify_views lets operands broadcast by themselves, unless the view gives the shape") {
  check_pass(simplify_and_clean,
             kMatrix +
                 "  input %2: f32[6] argument \"2\"\n  %3: f32[4, 6]{0, 1} = expand(%2, [4, 6])\n"
                 "  %4: f32[4, 6] = mul(%3, %1)\n  output %4\n",
             kMatrix + "  input %2: f32[6] argument \"2\"\n  %3: f32[4, 6] = mul(%2, %1)\n  output %3\n");
  check_left_alone(simplify_views,
                   "  %1: f32[3, 4]{0, 1} = expand(%0, [3, 4])\n  %2: f32[3, 4] = exp(%1)\n  output %2\n");
}

TEST_CASE("simplify_views drops the dimensions that a reduction keeps, if nobody needs them") {
  check_pass(simplify_and_clean,
             kMatrix + "  %2: f32[1, 6] = sum(%1, [0], true, none)\n  %3: f32[6] = view(%2, [6])\n  output %3\n",
             kMatrix + "  %2: f32[6] = sum(%1, [0], false, none)\n  output %2\n");
  check_left_alone(simplify_views, kMatrix +
                                       "  %2: f32[1, 6] = sum(%1, [0], true, none)\n"
                                       "  %3: f32[2, 3] = view(%2, [2, 3])\n  output %3\n");
  check_left_alone(simplify_views, kMatrix +
                                       "  %2: f32[1, 6] = sum(%1, [0], true, none)\n  %3: f32[6] = view(%2, [6])\n"
                                       "  output %2\n  output %3\n");
}
