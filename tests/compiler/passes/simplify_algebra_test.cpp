#include "compiler/passes/simplify_algebra.h"

#include "tests/compiler/passes/check_pass.h"

using namespace fuselet;
using namespace fuselet::testing;

namespace {

const std::string kHead = "  input %1: f32[4] argument \"1\"\n  %2: f32[4] = neg(%0)\n  %3: f32[4] = neg(%1)\n";

// A line that defines %4, and what it becomes.
void becomes(const std::string& line, const std::string& simpler) {
  CAPTURE(line);
  check_pass(simplify_algebra, kHead + "  %4: f32[4] = " + line + "\n  output %4\n",
             kHead + "  %4: f32[4] = " + simpler + "\n  output %4\n");
}
void stays(const std::string& line) { becomes(line, line); }

}  // namespace

TEST_CASE("simplify_algebra drops operands that change no bit") {
  becomes("mul(%0, 1.0)", "clone(%0, false)");
  becomes("mul(1, %0)", "clone(%0, false)");
  becomes("div(%0, 1)", "clone(%0, false)");
  becomes("sub(%0, 0.0)", "clone(%0, false)");
  becomes("add(%0, -0.0)", "clone(%0, false)");
  becomes("maximum(%0, %0)", "clone(%0, false)");
}

TEST_CASE("simplify_algebra divides by a power of two by multiplying") {
  becomes("div(%0, 8.0)", "mul(%0, 0.125)");
  becomes("div(%0, -0.5)", "mul(%0, -2.0)");
  stays("div(%0, 3.0)");
  stays("div(2.0, %0)");
  stays("div(%0, 0.0)");
  stays("div(%0, 3.402823669209385e+38)");  // 2^128 is infinity in float32
}

TEST_CASE("simplify_algebra squares by multiplying") {
  becomes("pow(%0, 2)", "mul(%0, %0)");
  becomes("pow(%0, 2.0)", "mul(%0, %0)");
  becomes("pow(%0, 1)", "clone(%0, false)");
  stays("pow(%0, 3)");  // two roundings
  stays("pow(%0, 0.5)");
}

TEST_CASE("simplify_algebra moves signs into sums") {
  becomes("add(%0, %3)", "sub(%0, %1)");
  becomes("sub(%0, %3)", "add(%0, %1)");
  becomes("add(%2, %1)", "sub(%1, %0)");
  becomes("neg(%2)", "clone(%0, false)");
  becomes("abs(%2)", "abs(%0)");
  stays("sub(%2, %1)");
  stays("mul(%2, %3)");
}

TEST_CASE("simplify_algebra keeps what changes the sign of a zero, and what broadcasts") {
  stays("add(%0, 0.0)");
  stays("add(%0, 0)");
  stays("sub(%0, -0.0)");
  stays("mul(%0, 0.0)");
  stays("mul(%0, -1.0)");
  stays("sub(0.0, %0)");
  check_left_alone(simplify_algebra,
                   "  %1: f32[3, 4] = full([3, 4], 1.0, f32, @cpu)\n  %2: f32[3, 4] = mul(%0, %1)\n  output %2\n");
}

TEST_CASE("simplify_algebra chooses a branch, and adds integer zeros freely") {
  check_pass(simplify_algebra,
             "  %1: b8[] = full([], true, b8, @cpu)\n  %2: f32[4] = where(%1, %0, 2.0)\n  output %2\n",
             "  %1: b8[] = full([], true, b8, @cpu)\n  %2: f32[4] = clone(%0, false)\n  output %2\n");
  check_pass(simplify_algebra, "  input %1: i64[4] argument \"1\"\n  %2: i64[4] = add(%1, 0)\n  output %2\n",
             "  input %1: i64[4] argument \"1\"\n  %2: i64[4] = clone(%1, false)\n  output %2\n");
  check_pass(simplify_algebra, "  input %1: b8[4] argument \"1\"\n  %2: f32[4] = where(%1, %0, %0)\n  output %2\n",
             "  input %1: b8[4] argument \"1\"\n  %2: f32[4] = clone(%0, false)\n  output %2\n");
}
