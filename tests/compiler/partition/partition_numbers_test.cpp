// A partition changes where values are computed, never what they are: forward and backward run one after the other are
// the joint graph, bit for bit, over all budgets.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include "compiler/decompose/decompose.h"
#include "tests/compiler/partition/run_partition.h"

using namespace fuselet;

namespace {

// Every budget from nothing to what the cut saves by itself, in 20 steps.
void check_all_budgets(const Recorded& r, const ir::Graph& g) {
  std::vector<Tensor> expected = run_joint(r, g);
  size_t n = r.joint.num_forward_outputs;
  Partition free = partition_min_cut(g, n), all = partition_save_all(g, n);
  CHECK(free.saved_bytes <= all.saved_bytes);
  CHECK(all.recomputed.empty());
  check_same(run_parts(r, free), expected);
  check_same(run_parts(r, all), expected);
  int64_t peak = 0, bytes = 0;
  for (int64_t step = 0; step <= 20; ++step) {
    Partition p = partition_min_cut(g, n, free.saved_bytes * step / 20);
    ir::verify(p.forward);
    ir::verify(p.backward);
    check_same(run_parts(r, p), expected);
    CHECK(p.saved_bytes <= *p.budget);
    CHECK(p.saved_bytes >= bytes);
    CHECK(p.planned_peak >= peak);
    peak = p.planned_peak;
    bytes = p.saved_bytes;
  }
  CHECK(bytes == free.saved_bytes);
}

std::vector<Tensor> parameters_of(int64_t width, int64_t layers) {
  manual_seed(5);
  std::vector<Tensor> out;
  for (int64_t i = 0; i < layers; ++i) {
    out.push_back(randn({2 * width, width}).requires_grad_(true));
    out.push_back(randn({2 * width}).requires_grad_(true));
    out.push_back(randn({width, 2 * width}).requires_grad_(true));
    out.push_back(randn({width}).requires_grad_(true));
    out.push_back(randn({width}).requires_grad_(true));
  }
  return out;
}

// Layers of layer_norm, linear, gelu, dropout, linear, with a path around each.
Tensor network(const Tensor& x, const std::vector<Tensor>& w, int64_t width) {
  Tensor h = x;
  for (size_t i = 0; i < w.size(); i += 5) {
    Tensor n = layer_norm(h, {width}, w[i + 3], w[i + 4]);
    Tensor m = dropout(gelu(linear(n, w[i], w[i + 1])), 0.3);
    h = h + linear(m, w[i + 2]);
  }
  return h;
}

}  // namespace

TEST_CASE("forward and backward give the joint graph's bits over all budgets: layer_norm, gelu, dropout") {
  std::vector<Tensor> w = parameters_of(12, 3);
  Tensor x = randn({7, 12}).requires_grad_(true);
  Recorded r({x}, [&](const std::vector<Tensor>& a) { return std::vector<Tensor>{network(a[0], w, 12)}; });
  SUBCASE("operators as recorded") { check_all_budgets(r, r.joint.graph); }
  SUBCASE("decomposed and cleaned") { check_all_budgets(r, cleaned(decompose(r.joint.graph))); }
}

TEST_CASE("over all budgets where the saved values outweigh the parameters") {
  std::vector<Tensor> w = parameters_of(4, 6);
  Tensor x = randn({100, 4}).requires_grad_(true);
  Recorded r({x}, [&](const std::vector<Tensor>& a) { return std::vector<Tensor>{network(a[0], w, 4)}; });
  check_all_budgets(r, cleaned(decompose(r.joint.graph)));
}

TEST_CASE("with nothing saved the backward repeats the mask: for ones the gradient is the output") {
  Tensor x = ones({4096}).requires_grad_(true);
  Recorded r({x}, [](const std::vector<Tensor>& a) { return std::vector<Tensor>{dropout(a[0], 0.5)}; });
  r.inputs[1] = ones({4096});
  for (const ir::Graph& g : {r.joint.graph, cleaned(decompose(r.joint.graph))}) {
    Partition p = partition_min_cut(g, 1, 0);
    CHECK(p.saved_bytes == 0);
    std::vector<Tensor> got = run_parts(r, p);
    CHECK(same_bits(got[0], got[1]));
    double sum = got[0].sum().item();
    CHECK(sum > 3500);
    CHECK(sum < 4700);
  }
}
