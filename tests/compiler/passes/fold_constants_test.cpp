#include "compiler/passes/fold_constants.h"

#include "tests/compiler/passes/check_pass.h"

using namespace fuselet;
using namespace fuselet::testing;

TEST_CASE("fold_constants computes operators of constants and puts numbers into calls") {
  check_pass(fold_constants, "  %1: f32[] = full([], 2.0, f32, @cpu)\n  %2: f32[4] = mul(%0, %1)\n  output %2\n",
             "  %1: f32[] = full([], 2.0, f32, @cpu)\n  %2: f32[4] = mul(%0, 2.0)\n  output %2\n");
  // 0.1 of float32 is not 0.1, and 2^0.5 rounds.
  check_pass(
      fold_constants, "  %1: f32[] = full([], 0.1, f32, @cpu)\n  %2: f64[] = cast(%1, f64)\n  output %2\n",
      "  %1: f32[] = full([], 0.1, f32, @cpu)\n  %2: f64[] = full([], 0.10000000149011612, f64, @cpu)\n  output %2\n");
  check_pass(
      fold_constants, "  %1: f64[] = full([], 2.0, f64, @cpu)\n  %2: f64[] = pow(%1, 0.5)\n  output %2\n",
      "  %1: f64[] = full([], 2.0, f64, @cpu)\n  %2: f64[] = full([], 1.4142135623730951, f64, @cpu)\n  output %2\n");
}

TEST_CASE("fold_constants keeps dtypes: integers wrap, comparisons give bool") {
  check_pass(fold_constants,
             "  %1: i64[2] = full([2], 9223372036854775807, i64, @cpu)\n  %2: i64[2] = add(%1, 1)\n"
             "  %3: b8[2] = lt(%1, 0)\n  output %2\n  output %3\n",
             "  %1: i64[2] = full([2], 9223372036854775807, i64, @cpu)\n"
             "  %2: i64[2] = full([2], -9223372036854775808, i64, @cpu)\n"
             "  %3: b8[2] = full([2], false, b8, @cpu)\n  output %2\n  output %3\n");
}

TEST_CASE("fold_constants makes a view of a constant a constant, but not where its strides are a result") {
  check_pass(fold_constants,
             "  %1: f32[] = full([], 2.0, f32, @cpu)\n  %2: f32[3, 4]{0, 0} = expand(%1, [3, 4])\n"
             "  %3: f32[4] = sum(%2, [0], false, none)\n  output %3\n",
             "  %1: f32[] = full([], 2.0, f32, @cpu)\n  %2: f32[3, 4] = full([3, 4], 2.0, f32, @cpu)\n"
             "  %3: f32[4] = sum(%2, [0], false, none)\n  output %3\n");
  check_left_alone(fold_constants,
                   "  %1: f32[] = full([], 2.0, f32, @cpu)\n  %2: f32[3, 4]{0, 0} = expand(%1, [3, 4])\n  output %2\n");
}

TEST_CASE("fold_constants leaves cells, and constants that give a result its shape") {
  check_left_alone(fold_constants,
                   "  cell $0 \"lr\"\n  %1: f64[] = full([], $0, f64, @cpu)\n  %2: f64[] = sub(1, %1)\n"
                   "  %3: f32[] = cast(%2, f32)\n  output %3\n");
  check_left_alone(fold_constants,
                   "  %1: f32[3, 4] = full([3, 4], 2.0, f32, @cpu)\n  %2: f32[3, 4] = mul(%0, %1)\n  output %2\n");
}
