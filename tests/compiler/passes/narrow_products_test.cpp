#include "compiler/passes/narrow_products.h"

#include "tests/compiler/passes/check_pass.h"

using namespace fuselet;
using namespace fuselet::testing;

namespace {

const std::string kFactors =
    "  input %1: bf16[2, 3] argument \"1\"\n  input %2: bf16[4, 3] argument \"2\"\n"
    "  %3: f32[2, 3] = cast(%1, f32)\n  %4: f32[4, 3] = cast(%2, f32)\n"
    "  %5: f32[3, 4]{1, 3} = permute(%4, [1, 0])\n";

}  // namespace

TEST_CASE("narrow_products keeps the sums in float32 where they are computed with") {
  check_pass(narrow_products,
             kFactors + "  %6: f32[2, 4] = matmul(%3, %5)\n  %7: f32[2, 4] = add(%6, 1)\n  output %7\n",
             kFactors +
                 "  %6: bf16[3, 4]{1, 3} = permute(%2, [1, 0])\n  %7: f32[2, 4] = matmul_wide(%1, %6)\n"
                 "  %8: f32[2, 4] = add(%7, 1)\n  output %8\n");
}

TEST_CASE("narrow_products rounds in the product what is rounded at once") {
  check_pass(narrow_products,
             kFactors + "  %6: f32[2, 4] = matmul(%3, %5)\n  %7: bf16[2, 4] = cast(%6, bf16)\n  output %7\n",
             kFactors +
                 "  %6: f32[2, 4] = matmul(%3, %5)\n  %7: bf16[3, 4]{1, 3} = permute(%2, [1, 0])\n"
                 "  %8: bf16[2, 4] = matmul(%1, %7)\n  output %8\n");
}

TEST_CASE("narrow_products leaves the sums wide for a second reader and for another dtype") {
  const std::string wide = "  %6: bf16[3, 4]{1, 3} = permute(%2, [1, 0])\n  %7: f32[2, 4] = matmul_wide(%1, %6)\n";
  check_pass(
      narrow_products,
      kFactors + "  %6: f32[2, 4] = matmul(%3, %5)\n  %7: bf16[2, 4] = cast(%6, bf16)\n  output %6\n  output %7\n",
      kFactors + wide + "  %8: bf16[2, 4] = cast(%7, bf16)\n  output %7\n  output %8\n");
  check_pass(narrow_products,
             kFactors + "  %6: f32[2, 4] = matmul(%3, %5)\n  %7: f16[2, 4] = cast(%6, f16)\n  output %7\n",
             kFactors + wide + "  %8: f16[2, 4] = cast(%7, f16)\n  output %8\n");
}

TEST_CASE("narrow_products leaves products of other values alone") {
  const std::string product = "  %5: f32[2, 2] = matmul(%3, %4)\n  output %5\n";
  const std::string left = "  input %1: f16[2, 3] argument \"1\"\n";
  // float32 itself, another 16-bit dtype, integers
  check_left_alone(narrow_products, left + "  input %2: f32[3, 2] argument \"2\"\n  %3: f32[2, 3] = cast(%1, f32)\n" +
                                        "  %4: f32[3, 2] = neg(%2)\n" + product);
  for (const char* dtype : {"bf16", "i8"}) {
    check_left_alone(narrow_products, left + "  input %2: " + dtype + "[3, 2] argument \"2\"\n" +
                                          "  %3: f32[2, 3] = cast(%1, f32)\n  %4: f32[3, 2] = cast(%2, f32)\n" +
                                          product);
  }
}
