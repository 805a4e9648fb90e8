#include "compiler/passes/fold_casts.h"

#include <array>

#include "tests/compiler/passes/check_pass.h"

using namespace fuselet;
using namespace fuselet::testing;

namespace {

// cast(cast(x, via), to) of an input of dtype `from`.
std::string chain(const std::string& from, const std::string& via, const std::string& to) {
  return "  input %1: " + from + "[4] argument \"1\"\n  %2: " + via + "[4] = cast(%1, " + via + ")\n  %3: " + to +
         "[4] = cast(%2, " + to + ")\n  output %3\n";
}
// What is left of it as one cast; the inner one is dead.
std::string single(const std::string& from, const std::string& via, const std::string& to) {
  return "  input %1: " + from + "[4] argument \"1\"\n  %2: " + via + "[4] = cast(%1, " + via + ")\n  %3: " + to +
         "[4] = " + (from == to ? "clone(%1, false)" : "cast(%1, " + to + ")") + "\n  output %3\n";
}

}  // namespace

TEST_CASE("fold_casts passes through an exact cast") {
  for (auto [from, via, to] : {std::array{"bf16", "f32", "f64"},
                               {"bf16", "f32", "bf16"},
                               {"f16", "f32", "i8"},
                               {"i8", "i64", "f16"},
                               {"i8", "i32", "u8"},
                               {"i32", "f64", "f32"},
                               {"b8", "f16", "i64"}}) {
    check_pass(fold_casts, chain(from, via, to), single(from, via, to));
  }
}

TEST_CASE("fold_casts keeps a cast that rounds, wraps around, or saturates") {
  for (auto [from, via, to] : {std::array{"f32", "bf16", "f32"},
                               {"f64", "f32", "bf16"},
                               {"i64", "i8", "i64"},
                               {"i32", "f32", "f64"},
                               {"f32", "b8", "f32"},
                               {"u8", "i8", "i64"},
                               {"i32", "f64", "i8"},
                               {"i8", "u8", "i64"},
                               {"f32", "i64", "f32"}}) {
    check_left_alone(fold_casts, chain(from, via, to));
  }
}

TEST_CASE("fold_casts keeps the mark of a boundary, and a pair of boundaries that rounds") {
  check_pass(fold_casts,
             "  input %1: f16[4] argument \"1\"\n  %2: f32[4] = cast(%1, f32) boundary\n"
             "  %3: bf16[4] = cast(%2, bf16)\n  output %3\n",
             "  input %1: f16[4] argument \"1\"\n  %2: f32[4] = cast(%1, f32) boundary\n"
             "  %3: bf16[4] = cast(%1, bf16)\n  output %3\n");
  check_left_alone(fold_casts,
                   "  %1: bf16[4] = cast(%0, bf16) boundary\n  %2: f32[4] = cast(%1, f32) boundary\n  output %2\n");
}
