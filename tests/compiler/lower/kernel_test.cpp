// The text of a kernel, and what verify refuses.
#include <doctest/doctest.h>

#include "tests/kernel_builder.h"

namespace fuselet::test {
namespace {

using kernel::Combine;
using kernel::Structure;

kernel::Kernel softmax() {
  NestBuilder b(Structure::Rows, {4, 10});
  const int x = b.load(0, kFloat32, {10, 1}), top = b.reduce(Combine::Max, x);
  const int e = b.formula("exp", {b.formula("sub", {x, top})});
  b.store(1, b.formula("div", {e, b.reduce(Combine::Sum, e)}), {10, 1});
  return make_kernel("softmax", {{kFloat32, 40, false}, {kFloat32, 40, true}}, {b.nest});
}

// What verify says of the first nest once it is changed.
template <class F>
std::string refusal(F&& change) {
  kernel::Kernel k = softmax();
  change(k, k.stages[0].nests[0]);
  try {
    kernel::verify(k);
  } catch (const InternalError& e) {
    const std::string text = e.what();
    const size_t at = text.find("statement ");
    return text.substr(at, text.find('\n', at) - at);
  }
  return "";
}

}  // namespace

TEST_CASE("a kernel prints one statement a line") {
  CHECK(print(softmax()) ==
        "kernel softmax\n"
        "  b0: f32 40\n"
        "  b1: f32 40 written\n"
        "stage\n"
        "  rows (4, 10)\n"
        "    %0: f32 {0,1} = load b0[0 + (10, 1)]\n"
        "    %1: f32 {0} = max_row(%0)\n"
        "    %2: f32 {0,1} = sub<f32>(%0, %1)  # sub, by hand\n"
        "    %3: f32 {0,1} = exp<f32>(%2)  # exp, by hand\n"
        "    %4: f32 {0} = sum_row(%3)\n"
        "    %5: f32 {0,1} = div<f32>(%3, %4)  # div, by hand\n"
        "    %6: f32 {0,1} = store b1[0 + (10, 1)] = %5\n");
}

TEST_CASE("verify names the statement that is not well formed") {
  CHECK(refusal([](auto&, auto&) {}) == "");
  CHECK(refusal([](auto&, auto& n) { n.body[2].args[1] = 5; }) == "statement %2: an argument is not defined before");
  CHECK(refusal([](auto&, auto& n) { n.body[3].varies = 1; }) ==
        "statement %3: varies over less than what it is made of");
  CHECK(refusal([](auto& k, auto&) { k.buffers[0].elements = 39; }) == "statement %0: an access leaves its buffer");
  CHECK(refusal([](auto& k, auto&) { k.buffers[1].written = false; }) ==
        "statement %6: stores into a buffer that is not written");
  CHECK(refusal([](auto& k, auto&) { k.buffers[1].dtype = kFloat16; }) ==
        "statement %6: stores a value of another dtype");
  CHECK(refusal([](auto&, auto& n) {
          n.body[6].access.strides = {0, 1}, n.body[6].args = {4}, n.body[6].varies = 2;
        }) == "statement %6: stores into one element at several positions");
  CHECK(refusal([](auto&, auto& n) { n.structure = Structure::Pointwise; }) ==
        "statement %1: a pointwise nest reduces");
  CHECK(refusal([](auto&, auto& n) { n.structure = Structure::SplitRows; }) ==
        "statement %2: split rows need a second pass: it varies over the row, or reduces, and depends on a Reduce");
  CHECK(refusal([](auto&, auto& n) { n.body[1].tree = kernel::Tree::Column; }) ==
        "statement %1: rows reduce by columns");
}

}  // namespace fuselet::test
