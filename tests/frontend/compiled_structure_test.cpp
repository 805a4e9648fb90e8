// What the compiler makes of known functions with default settings: how many kernels, how many calls of products, and
// why neighbours stay apart.
#include <doctest/doctest.h>
#include <fuselet/compile.h>

#include <algorithm>

#include "compiler/fuse/fuse.h"
#include "tests/frontend/small_trainings.h"

namespace fuselet::testing {
namespace {

using nn::functional::cross_entropy;
using nn::functional::dropout;
using nn::functional::gelu;
using nn::functional::layer_norm;

struct Kernels {
  int forward = 0, backward = 0;
  size_t calls = 0;
  std::string text;
};

// Calls f(), and the backward of its result later, outside.
template <class F>
Kernels kernels_of(const F& f) {
  auto compiled = compile(f);
  Tensor y = compiled();
  if (y.requires_grad()) y.backward(y.dim() == 0 ? Tensor() : ones_like(y));
  const report::CompileReport report = compiled.report();
  Kernels k;
  for (const report::KernelReport& one : report.kernels)
    (one.name.find("backward.") == 0 ? k.backward : k.forward) += 1;
  k.calls = report.calls.size();
  k.text = report::text_of(report);
  return k;
}

// Pointwise kernels that would save bytes as one stay apart only where something else has to run in their middle. The
// graph that was compiled is fused again, for a report does not say which structure a kernel has.
void check_refusals(const report::CompileReport& report) {
  const lower::GraphFacts facts(*report.drawn, Numerics::Fused);
  const fuse::Fusion fusion = fuse::fuse(facts);
  CHECK(fusion.kernels.size() == report.kernels.size());
  CHECK(fusion.refusals.size() == report.refused.size());
  // The kernel of a node in a pointwise nest; -1 for other nodes.
  auto pointwise_kernel = [&](int32_t node) {
    for (size_t k = 0; k < fusion.kernels.size(); ++k) {
      for (const std::vector<int32_t>& stage : fusion.kernels[k].stages) {
        for (int32_t i : stage) {
          const fuse::Group& g = fusion.groups[static_cast<size_t>(i)];
          if (std::find(g.nodes.begin(), g.nodes.end(), node) == g.nodes.end()) continue;
          return g.nest.nest.structure == kernel::Structure::Pointwise ? static_cast<int>(k) : -1;
        }
      }
    }
    return -1;
  };
  int pairs = 0;
  for (const fuse::FusionRefusal& r : fusion.refusals) {
    // Nests that cannot be one may still share a kernel, as stages or side by side.
    const int first = pointwise_kernel(r.first), second = pointwise_kernel(r.second);
    if (r.bytes == 0 || first < 0 || second < 0 || first == second) continue;
    ++pairs;
    CAPTURE(r.first);
    CAPTURE(r.second);
    CAPTURE(r.bytes);
    CHECK(r.reason == "another kernel has to run between them");
  }
  CHECK(pairs > 0);
}

Tensor leaf(const std::vector<int64_t>& sizes) { return randn(sizes).requires_grad_(); }

}  // namespace

TEST_CASE("layer_norm(dropout(gelu(x)) + r) is one kernel, its later backward at most two") {
  manual_seed(1);
  const Tensor x = leaf({24, 40}), r = leaf({24, 40}), w = leaf({40}), b = leaf({40});
  const Kernels k = kernels_of([&] { return layer_norm(dropout(gelu(x), 0.1, true) + r, {40}, w, b); });
  CAPTURE(k.text);
  CHECK(k.forward == 1);
  CHECK(k.backward >= 1);
  CHECK(k.backward <= 2);
  CHECK(k.calls == 0);
  for (const Tensor* t : {&x, &r, &w, &b}) CHECK(t->grad().defined());
}

TEST_CASE("softmax is one kernel, and so is its later backward") {
  manual_seed(1);
  const Tensor x = leaf({24, 40});
  const Kernels k = kernels_of([&] { return x.softmax(-1); });
  CAPTURE(k.text);
  CHECK(k.forward == 1);
  CHECK(k.backward == 1);
  CHECK(k.calls == 0);
}

TEST_CASE("cross entropy is one kernel, and so is its later backward") {
  manual_seed(1);
  const Tensor x = leaf({24, 10}), target = randint(0, 10, {24});
  const Kernels k = kernels_of([&] { return cross_entropy(x, target); });
  CAPTURE(k.text);
  CHECK(k.forward == 1);
  CHECK(k.backward == 1);
  CHECK(k.calls == 0);
}

TEST_CASE("an update of 50 parameters of different shapes is one kernel") {
  manual_seed(1);
  std::vector<Tensor> parameters;
  for (int64_t i = 0; i < 50; ++i) {
    parameters.push_back(i % 3 == 0 ? leaf({i + 2}) : i % 3 == 1 ? leaf({i, 3}) : leaf({2, i, 2}));
    parameters.back().set_grad(randn({parameters.back().sizes()}));
  }
  optim::AdamW optimizer(parameters, {.lr = 0.01});
  auto step = compile([&] { optimizer.step(); });
  step();
  const report::CompileReport report = step.report();
  CAPTURE(report::text_of(report));
  CHECK(report.kernels.size() == 1);
  CHECK(report.calls.empty());
  CHECK(report.writes_in_place == 150);
  CHECK(report.writes_copied == 0);
}

TEST_CASE("the digits MLP's whole step is 4 kernels and 5 products") {
  SmallTraining t(Example::DigitsMlp, 1);
  const Batch batch = batches_of(Example::DigitsMlp, 1)[0];
  auto step = compile([&] { return t.step(batch); });
  step();
  const report::CompileReport report = step.report();
  CAPTURE(report::text_of(report));
  CHECK(report.kernels.size() == 4);
  CHECK(report.calls.size() == 5);
  for (const std::string& call : report.calls) CHECK(call.find("matmul") != std::string::npos);
  check_refusals(report);
  CHECK(!report.refused.empty());
}

}  // namespace fuselet::testing
