// Small joint graphs: what is saved, what is recomputed, and the two graphs in full.
#include "compiler/partition/partition.h"

#include <doctest/doctest.h>

#include <string>

using namespace fuselet;

namespace {

ir::Graph joint(const std::string& body) {
  ir::Graph g = ir::parse("graph \"g\" {\n" + body + "}\n");
  ir::verify(g);
  return g;
}

std::string graph(const std::string& name, const std::string& body) {
  return "graph \"g " + name + "\" {\n" + body + "}\n";
}

void check_graphs(const Partition& p, const std::string& forward, const std::string& backward) {
  ir::verify(p.forward);
  ir::verify(p.backward);
  CHECK(ir::print(p.forward) == graph("forward", forward));
  CHECK(ir::print(p.backward) == graph("backward", backward));
  for (const ir::Graph* g : {&p.forward, &p.backward}) CHECK(ir::print(ir::parse(ir::print(*g))) == ir::print(*g));
}

bool saves(const Partition& p, const std::string& name) {
  for (const SavedValue& s : p.saved) {
    if (s.name == name) return true;
  }
  return false;
}

bool recomputes(const Partition& p, int32_t node) {
  for (const RecomputedNode& n : p.recomputed) {
    if (n.node == node) return true;
  }
  return false;
}

// y = exp(sin(x @ w)) with the gradient of w: cos of the product and y are both read.
const char* kChain =
    "  input %0: f32[4, 4] argument \"0\"\n  input %1: f32[4, 4] lifted \"w\"\n  input %2: f32[4, 4] tangent \"0\"\n"
    "  %3: f32[4, 4] = matmul(%0, %1)\n  %4: f32[4, 4] = sin(%3)\n  %5: f32[4, 4] = exp(%4)\n"
    "  %6: f32[4, 4] = mul(%2, %5)\n  %7: f32[4, 4] = cos(%3)\n  %8: f32[4, 4] = mul(%6, %7)\n"
    "  %9: f32[4, 4]{1, 4} = transpose(%0, 0, 1)\n  %10: f32[4, 4] = matmul(%9, %8)\n"
    "  output %5\n  output %10\n";

}  // namespace

TEST_CASE("one saved value serves several readers: the rest of the chain is computed again") {
  Partition p = partition_min_cut(joint(kChain), 1);
  check_graphs(p,
               "  input %0: f32[4, 4] argument \"0\"\n  input %1: f32[4, 4] lifted \"w\"\n"
               "  %2: f32[4, 4] = matmul(%0, %1)\n  %3: f32[4, 4] = sin(%2)\n  %4: f32[4, 4] = exp(%3)\n"
               "  output %4\n  output %2\n",
               "  input %0: f32[4, 4] argument \"0\"\n  input %1: f32[4, 4] argument \"matmul.3\"\n"
               "  input %2: f32[4, 4] tangent \"0\"\n"
               "  %3: f32[4, 4] = sin(%1)\n  %4: f32[4, 4] = exp(%3)\n  %5: f32[4, 4] = mul(%2, %4)\n"
               "  %6: f32[4, 4] = cos(%1)\n  %7: f32[4, 4] = mul(%5, %6)\n"
               "  %8: f32[4, 4]{1, 4} = transpose(%0, 0, 1)\n  %9: f32[4, 4] = matmul(%8, %7)\n  output %9\n");
  CHECK(p.saved_bytes == 64);
  REQUIRE(p.saved.size() == 2);
  CHECK(p.saved[0].input == 0);
  CHECK(p.saved[0].bytes == 0);
  CHECK(p.saved[1].output == 1);
  REQUIRE(p.banned.size() == 1);
  CHECK(p.banned[0].node == 0);
  CHECK(p.banned[0].reason.find("contraction") != std::string::npos);
}

TEST_CASE("the stage's text names what is saved, recomputed and banned, and prints both graphs") {
  ir::Graph g = joint(kChain);
  Partition p = partition_min_cut(g, 1, 100);
  CHECK(text_of(p, g) ==
        "saved 64 bytes, planned peak 320, budget 100\n  save 0: alive anyway\n  save matmul.3: 64 bytes\n"
        "  recompute sin.4: cost 128\n  recompute exp.5: cost 128\n"
        "  banned matmul.3: contraction: arithmetic outweighs the bytes\n" +
            ir::print(p.forward) + ir::print(p.backward));
}

TEST_CASE("saving everything saves what the backward reads, and a forward output only once") {
  Partition p = partition_save_all(joint(kChain), 1);
  CHECK(p.saved_bytes == 128);
  CHECK(saves(p, "cos.7"));
  CHECK(saves(p, "exp.5"));
  CHECK(p.forward.outputs.size() == 2);
  CHECK(p.saved[1].output == 0);  // exp is the user's output
  CHECK(p.recomputed.empty());
}

TEST_CASE("a budget of nothing recomputes even the contraction; below what is possible it is an error") {
  Partition p = partition_min_cut(joint(kChain), 1, 0);
  CHECK(p.saved_bytes == 0);
  CHECK(recomputes(p, 0));
  CHECK(p.forward.outputs.size() == 1);
  // %0 is overwritten, so its old value must be saved.
  std::string body = std::string(kChain);
  body.insert(body.find("  output"), "  write %0 <- %5\n");
  CHECK_THROWS_WITH_AS(partition_min_cut(joint(body), 1, 63),
                       doctest::Contains("must save at least 64 bytes for its backward, the budget is 63"), Error);
  Partition saved = partition_min_cut(joint(body), 1, 64);
  CHECK(saved.saved_bytes == 64);
  CHECK(saved.forward.outputs == std::vector<ir::ValueId>{4, 0});
  CHECK(saved.forward.writes.size() == 1);
  CHECK(saved.backward.writes.empty());
}

TEST_CASE("a draw is saved, or under pressure drawn again under its own number") {
  ir::Graph g = joint(
      "  input %0: f32[100] argument \"0\"\n  input %1: f32[100] tangent \"0\"\n"
      "  %2: f32[3] = rand([3], f32, none) draw 0\n"
      "  %3: f32[100], %4: b8[100] = dropout_forward(%0, 0.5) draw 1\n"
      "  %5: f32[100] = dropout_grad(%1, %4, 0.5)\n  output %3\n  output %5\n");
  Partition free = partition_min_cut(g, 1);
  CHECK(free.saved_bytes == 100);
  CHECK(saves(free, "dropout_forward.3") == false);
  Partition pressed = partition_min_cut(g, 1, 0);
  check_graphs(pressed,
               "  input %0: f32[100] argument \"0\"\n  %1: f32[3] = rand([3], f32, none) draw 0\n"
               "  %2: f32[100], %3: b8[100] = dropout_forward(%0, 0.5) draw 1\n  output %2\n",
               "  input %0: f32[100] argument \"0\"\n  input %1: f32[100] tangent \"0\"\n  draws 2 of the whole\n"
               "  %2: f32[100], %3: b8[100] = dropout_forward(%0, 0.5) draw 1\n"
               "  %4: f32[100] = dropout_grad(%1, %3, 0.5)\n  output %4\n");
}

TEST_CASE("a cell in the backward stands for the number that was read, advances included") {
  ir::Graph g = joint(
      "  input %0: f32[4] argument \"0\"\n  input %1: f32[4] tangent \"0\"\n  cell $0 \"step\"\n"
      "  %2: f32[4] = mul(%0, $0)\n  advance $0 by 1.0\n  %3: f32[4] = mul(%2, $0)\n  advance $0 by 0.5\n"
      "  %4: f32[4] = mul(%1, $0)\n  %5: f32[4] = mul(%4, %3)\n  %6: f32[4] = mul(%5, %2)\n  output %3\n  output %6\n");
  Partition p = partition_min_cut(g, 1, 0);
  check_graphs(p,
               "  input %0: f32[4] argument \"0\"\n  cell $0 \"step\"\n  %1: f32[4] = mul(%0, $0)\n"
               "  advance $0 by 1.0\n  %2: f32[4] = mul(%1, $0)\n  advance $0 by 0.5\n  output %2\n",
               "  input %0: f32[4] argument \"0\"\n  input %1: f32[4] tangent \"0\"\n  cell $0 \"step\"\n"
               "  cell $1 \"step\"\n  cell $2 \"step\"\n  %2: f32[4] = mul(%1, $0)\n  %3: f32[4] = mul(%0, $1)\n"
               "  %4: f32[4] = mul(%3, $2)\n  %5: f32[4] = mul(%2, %4)\n  %6: f32[4] = mul(%5, %3)\n  output %6\n");
  REQUIRE(p.scalars.size() == 3);
  CHECK(p.scalars[0].value(2) == 3.5);
  CHECK(p.scalars[1].value(2) == 2);
  CHECK(p.scalars[2].value(2) == 3);
}

TEST_CASE("views are taken again from what is saved, and a small part is saved instead of the whole") {
  ir::Graph g = joint(
      "  input %0: f32[8, 8] argument \"0\"\n  input %1: f32[8, 8] tangent \"0\"\n  input %2: f32[8] tangent \"1\"\n"
      "  %3: f32[8, 8] = matmul(%0, %0)\n  %4: f32[8, 8]{1, 8} = transpose(%3, 0, 1)\n  %5: f32[8] = select(%3, 0, 1)\n"
      "  %6: f32[8, 8] = mul(%1, %4)\n  %7: f32[8] = mul(%2, %5)\n"
      "  output %4\n  output %5\n  output %6\n  output %7\n");
  Partition both = partition_min_cut(g, 2);
  CHECK(both.saved_bytes == 256);
  CHECK(saves(both, "matmul.3"));
  CHECK(both.saved.size() == 1);
  g.outputs.erase(g.outputs.begin() + 2);  // the part alone
  Partition part = partition_min_cut(g, 2);
  CHECK(part.saved_bytes == 32);
  CHECK(saves(part, "select.5"));
}

TEST_CASE("a reduction that reads far more than it gives is saved, a chain of cheap nodes only up to a length") {
  ir::Graph g = joint(
      "  input %0: f32[8, 64] argument \"0\"\n  input %1: f32[8] tangent \"0\"\n"
      "  %2: f32[8] = sum(%0, [1], false, none)\n  %3: f32[8] = exp(%2)\n  %4: f32[8] = mul(%1, %3)\n"
      "  output %3\n  output %4\n");
  Partition p = partition_min_cut(g, 1);
  CHECK(p.saved_bytes == 32);
  CHECK(p.banned.size() == 1);
  CHECK(partition_min_cut(g, 1, 0).saved_bytes == 0);
  std::string chain = "  input %0: f32[8] argument \"0\"\n  input %1: f32[8] tangent \"0\"\n";
  for (int i = 2; i < 42; ++i) {
    chain += "  %" + std::to_string(i) + ": f32[8] = sin(%" + std::to_string(i == 2 ? 0 : i - 1) + ")\n";
  }
  chain += "  %42: f32[8] = mul(%1, %41)\n  output %41\n  output %42\n";
  Partition limited = partition_min_cut(joint(chain), 1);
  CHECK(limited.saved_bytes == 32);
  REQUIRE(limited.banned.size() == 1);
  CHECK(limited.banned[0].reason == "the chain of recomputed nodes is longer than 32");
  CHECK(limited.recomputed.size() < 10);
}

TEST_CASE("what only the gradients need is computed once, where fewer bytes cross") {
  // exp of the small input alone is read, by the gradient: computed in the backward from an input that is alive anyway.
  ir::Graph g = joint(
      "  input %0: f32[4] argument \"0\"\n  input %1: f32[4] tangent \"0\"\n  %2: f32[4] = sin(%0)\n"
      "  %3: f32[4] = exp(%0)\n  %4: f32[4] = full([4], 2, f32, none)\n  %5: f32[4] = mul(%3, %4)\n"
      "  %6: f32[4] = mul(%1, %5)\n  output %2\n  output %6\n  output %1\n  output %0\n");
  Partition p = partition_min_cut(g, 1);
  CHECK(p.forward.nodes.size() == 1);
  CHECK(p.backward.nodes.size() == 4);
  CHECK(p.saved_bytes == 0);
  CHECK(p.recomputed.empty());
  CHECK(p.backward.outputs.size() == 3);  // a gradient may be a tangent or an input itself
}

TEST_CASE("what cannot be split is our mistake and says so") {
  const char* head =
      "  input %0: f32[4] argument \"0\"\n  input %1: f32[4] tangent \"0\"\n  %2: f32[4] = mul(%0, %1)\n";
  CHECK_THROWS_WITH_AS(partition_min_cut(joint(std::string(head) + "  output %2\n"), 1),
                       doctest::Contains("forward output 0 depends on a tangent"), InternalError);
  CHECK_THROWS_WITH_AS(partition_min_cut(joint(std::string(head) + "  write %0 <- %2\n  output %0\n"), 1),
                       doctest::Contains("written into input '0' depends on a tangent"), InternalError);
}
