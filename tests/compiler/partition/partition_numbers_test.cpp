// A partition changes where values are computed, never what they are: forward and backward run one after the other are
// the joint graph, bit for bit, over all budgets.
#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <cstring>

#include "compiler/decompose/decompose.h"
#include "compiler/joint/joint_graph.h"
#include "compiler/partition/partition.h"
#include "compiler/passes/eliminate_dead_code.h"
#include "compiler/passes/forward_identities.h"
#include "compiler/passes/merge_common_subexpressions.h"
#include "compiler/replay/interpret.h"

using namespace fuselet;

namespace {

constexpr GeneratorState kDraws{17, 1000};

bool same_bits(const Tensor& a, const Tensor& b) {
  if (!same_sizes(a.sizes(), b.sizes()) || a.dtype() != b.dtype()) return false;
  Tensor x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.numel()) * size_of(x.dtype())) == 0;
}

struct Recorded {
  JointGraph joint;
  std::vector<Tensor> inputs;  // tangents included
  std::vector<double> cells;

  template <class F>
  Recorded(const std::vector<Tensor>& args, F&& f) {
    trace::Recorder recorder("net");
    for (const Tensor& t : args) recorder.add_argument(t);
    {
      trace::RecordingScope scope(recorder);
      joint = make_joint(recorder, f(args));
    }
    NoGradGuard no_grad;
    manual_seed(99);
    for (size_t i = 0; i < joint.graph.inputs.size(); ++i) {
      const TensorMeta& meta = joint.graph.meta(joint.graph.inputs[i].value);
      bool flows_in = joint.graph.inputs[i].kind == ir::InputKind::Tangent;
      inputs.push_back(flows_in ? randn(meta.sizes) : recorder.lifted()[i].detach());
    }
    for (const CellPtr& c : recorder.cells()) cells.push_back(c->get());
  }
};

std::vector<CellPtr> cells_of(const std::vector<double>& values) {
  std::vector<CellPtr> out;
  for (double v : values) out.push_back(make_intrusive<HostCell>(v, "cell"));
  return out;
}

std::vector<Tensor> run_joint(const Recorded& r, const ir::Graph& g) {
  NoGradGuard no_grad;
  return replay::interpret(g, r.inputs, cells_of(r.cells), kDraws, g.outputs);
}

// Forward outputs, then gradients.
std::vector<Tensor> run_parts(const Recorded& r, const Partition& p) {
  NoGradGuard no_grad;
  std::vector<Tensor> given, tangents;
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    bool flows_in = r.joint.graph.inputs[i].kind == ir::InputKind::Tangent;
    (flows_in ? tangents : given).push_back(r.inputs[i]);
  }
  std::vector<Tensor> out = replay::interpret(p.forward, given, cells_of(r.cells), kDraws, p.forward.outputs);
  std::vector<Tensor> backward_inputs;
  for (const SavedValue& s : p.saved)
    backward_inputs.push_back(s.input >= 0 ? r.inputs[static_cast<size_t>(s.input)]
                                           : out[static_cast<size_t>(s.output)]);
  backward_inputs.insert(backward_inputs.end(), tangents.begin(), tangents.end());
  std::vector<double> scalars;
  for (const SavedScalar& s : p.scalars) scalars.push_back(s.value(r.cells[static_cast<size_t>(s.cell)]));
  out.resize(p.num_forward_outputs);
  std::vector<Tensor> gradients =
      replay::interpret(p.backward, backward_inputs, cells_of(scalars), kDraws, p.backward.outputs);
  out.insert(out.end(), gradients.begin(), gradients.end());
  return out;
}

void check_same(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
}

ir::Graph cleaned(ir::Graph g) {
  for (bool changed = true; changed;) {
    changed = forward_identities(g);
    changed = merge_common_subexpressions(g) || changed;
    changed = eliminate_dead_code(g) || changed;
  }
  ir::verify(g);
  return g;
}

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
