// The graph's text form: parsing what was printed prints the same, and bad text is refused with its line.
#include <doctest/doctest.h>

#include "compiler/ir/graph.h"
#include "core/error.h"

using namespace fuselet;

namespace {

const char* kGraph = R"(graph "step" {
  input %0: f32[2, 3] argument "0"
  input %1: f32[4, 3] lifted "weight"
  cell $0 "lr"
  %2: f32[3, 4]{1, 3} = transpose(%1, 0, 1)  # 0 @ a.cpp:3
  %3: f32[2, 4] = matmul(%0, %2)  # 1 @ a.cpp:4
  %4: f32[2, 4], %5: b8[2, 4] = dropout_forward(%3, 0.1) draw 0  # 2
  %6: f32[2, 4] = mul(%4, $0)  # backward of 1 2 @ a.cpp:4
  advance $0 by 1.0
  %7: f32[] = sum(%6, [], false, none)
  %8: f32[4, 8] = cat([%6, %3], 0)
  %9: f32[2, 4] = add(%6, -2.5e-07)
  write %1 <- %1
  output %7
}
)";

std::string error_of(std::string text) {
  try {
    ir::parse(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("printing what was parsed gives the same text") { CHECK(ir::print(ir::parse(kGraph)) == kGraph); }

TEST_CASE("numbers keep their kind and their bits") {
  for (const char* number : {"1", "1.0", "0.1", "inf", "-inf", "nan", "1e-300", "true"}) {
    std::string text = "graph \"g\" {\n  input %0: f64[] argument \"0\"\n  %1: f64[] = mul(%0, " + std::string(number) +
                       ")\n  output %1\n}\n";
    CHECK(ir::print(ir::parse(text)) == text);
  }
}

TEST_CASE("bad text names the line and what was expected") {
  CHECK(error_of("graph \"g\" {\n  %0: f32[] = frobnicate()\n}\n").find("line 2") != std::string::npos);
  CHECK(error_of("graph \"g\" {\n  %0: f32[] = frobnicate()\n}\n").find("operator of the table") != std::string::npos);
  CHECK(error_of("graph \"g\" {\n  output %3\n}\n").find("defined before") != std::string::npos);
  CHECK(error_of("graph \"g\" {\n").find("closing") != std::string::npos);
  CHECK(error_of("graph \"g\" {\n  input %0: f33[] argument \"0\"\n}\n").find("f33") != std::string::npos);
}

TEST_CASE("the verifier finds what does not hold") {
  auto broken = [](const std::string& from, const std::string& to) {
    std::string text = kGraph;
    text.replace(text.find(from), from.size(), to);
    try {
      ir::verify(ir::parse(text));
    } catch (const InternalError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  // cat of two (2, 4) along dimension 0 is (4, 4), so the text above is wrong in one place
  CHECK(broken("sum(", "sum(").find("cat") != std::string::npos);
  CHECK(broken("f32[4, 8] = cat", "f32[4, 4] = cat") == "");
  CHECK(broken("%3: f32[2, 4] = matmul(%0, %2)", "%3: f32[2, 5] = matmul(%0, %2)").find("matmul") != std::string::npos);
  CHECK(broken(" draw 0", "").find("draw") != std::string::npos);
  CHECK(broken("mul(%4, $0)", "mul(%4, $3)").find("cell") != std::string::npos);
}
