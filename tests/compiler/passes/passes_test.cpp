// Passes: a small graph in, the expected graph out, and a near miss that is left alone.
#include <doctest/doctest.h>

#include "compiler/passes/eliminate_dead_code.h"
#include "compiler/passes/forward_identities.h"
#include "compiler/passes/merge_common_subexpressions.h"
#include "tests/compiler/passes/check_pass.h"

using namespace fuselet;

using fuselet::testing::check_pass;

TEST_CASE("eliminate_dead_code drops what nobody reads, and what only that read") {
  check_pass(eliminate_dead_code,
             "  %1: f32[4] = exp(%0)\n  %2: f32[4] = neg(%1)\n  %3: f32[4] = abs(%0)\n  output %3\n",
             "  %1: f32[4] = abs(%0)\n  output %1\n");
}

TEST_CASE("eliminate_dead_code keeps a draw that nobody reads, and what an advance stands before") {
  const char* body =
      "  cell $0 \"step\"\n  %1: f32[4] = rand([4], f32, none) draw 0\n  advance $0 by 1.0\n"
      "  %2: f32[4] = mul(%0, $0)\n  output %2\n";
  check_pass(eliminate_dead_code, body, body);
}

TEST_CASE("eliminate_dead_code moves an advance with the nodes around it") {
  check_pass(
      eliminate_dead_code,
      "  cell $0 \"step\"\n  %1: f32[4] = exp(%0)\n  advance $0 by 1.0\n  %2: f32[4] = mul(%0, $0)\n  output %2\n",
      "  cell $0 \"step\"\n  advance $0 by 1.0\n  %1: f32[4] = mul(%0, $0)\n  output %1\n");
}

TEST_CASE("merge_common_subexpressions computes equal values once and unites their origins") {
  check_pass(merge_common_subexpressions,
             "  %1: f32[4] = exp(%0)  # 0 @ a.cpp:1\n  %2: f32[4] = exp(%0)  # 1 @ a.cpp:2\n"
             "  %3: f32[4] = neg(%2)  # 2\n  %4: f32[4] = neg(%1)  # 3\n  %5: f32[4] = add(%3, %4)  # 4\n  output %5\n",
             "  %1: f32[4] = exp(%0)  # 0 1 @ a.cpp:1\n  %2: f32[4] = neg(%1)  # 2 3\n"
             "  %3: f32[4] = add(%2, %2)  # 4\n  output %3\n");
}

TEST_CASE("merge_common_subexpressions never merges two draws, other kinds of number, or reads around an advance") {
  for (const char* body :
       {"  %1: f32[4] = rand([4], f32, none) draw 0\n  %2: f32[4] = rand([4], f32, none) draw 1\n"
        "  %3: f32[4] = sub(%1, %2)\n  output %3\n",
        "  %1: f32[4] = mul(%0, 1)\n  %2: f32[4] = mul(%0, 1.0)\n  %3: f32[4] = sub(%1, %2)\n  output %3\n",
        "  %1: f32[4] = mul(%0, 0.0)\n  %2: f32[4] = mul(%0, -0.0)\n  %3: f32[4] = sub(%1, %2)\n  output %3\n",
        "  cell $0 \"step\"\n  %1: f32[4] = mul(%0, $0)\n  advance $0 by 1.0\n  %2: f32[4] = mul(%0, $0)\n"
        "  %3: f32[4] = sub(%1, %2)\n  output %3\n"}) {
    check_pass(merge_common_subexpressions, body, body);
  }
}

TEST_CASE("merge_common_subexpressions keeps two results apart, and takes a user's cast for both") {
  const char* body = "  %1: f32[4] = exp(%0)\n  %2: f32[4] = exp(%0)\n  output %1\n  output %2\n";
  check_pass(merge_common_subexpressions, body, body);
  check_pass(merge_common_subexpressions,
             "  %1: bf16[4] = cast(%0, bf16) boundary\n  %2: bf16[4] = cast(%0, bf16)\n  %3: f32[4] = cast(%1, f32)\n"
             "  %4: f32[4] = cast(%2, f32)\n  %5: f32[4] = add(%3, %4)\n  output %5\n",
             "  %1: bf16[4] = cast(%0, bf16)\n  %2: f32[4] = cast(%1, f32)\n  %3: f32[4] = add(%2, %2)\n  output %3\n");
}

TEST_CASE("forward_identities drops a change of layout that nobody sees") {
  check_pass(forward_identities,
             "  %1: f32[2, 2] = view(%0, [2, 2])\n  %2: f32[2, 2]{1, 2} = transpose(%1, 0, 1)\n"
             "  %3: f32[2, 2] = clone(%2, true)\n  %4: f32[] = sum(%3, [0, 1], false, none)\n  output %4\n",
             "  %1: f32[2, 2] = view(%0, [2, 2])\n  %2: f32[2, 2]{1, 2} = transpose(%1, 0, 1)\n"
             "  %3: f32[] = sum(%2, [0, 1], false, none)\n  output %3\n");
}

TEST_CASE("forward_identities reads through aliases, copies and casts to the same dtype") {
  check_pass(forward_identities,
             "  %1: f32[4] = alias(%0)\n  %2: f32[4] = clone(%1, false)\n  %3: f32[4] = cast(%2, f32)\n"
             "  %4: f32[4] = exp(%3)\n  output %4\n",
             "  %1: f32[4] = exp(%0)\n  output %1\n");
}

TEST_CASE("forward_identities keeps a cast that rounds, a change of layout, and a copy that is a result") {
  for (const char* body :
       {"  %1: bf16[4] = cast(%0, bf16)\n  %2: f32[4] = cast(%1, f32)\n  %3: f32[4] = exp(%2)\n  output %3\n",
        "  %1: f32[2, 2] = view(%0, [2, 2])\n  %2: f32[2, 2]{1, 2} = transpose(%1, 0, 1)\n"
        "  %3: f32[2, 2] = clone(%2, true)\n  %4: f32[4] = view(%3, [4])\n  output %4\n",
        "  %1: f32[4] = clone(%0, false)\n  %2: f32[4] = exp(%1)\n  output %1\n  output %2\n",
        "  %1: f32[4] = clone(%0, false)\n  %2: f32[2] = slice(%1, 0, 0, 2, 1)\n  output %2\n"}) {
    check_pass(forward_identities, body, body);
  }
}
