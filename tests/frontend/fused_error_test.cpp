// Fused numerics against the recorded graph in double precision: whole training steps in float32, and chains in 16
// bits, whose values the reference does not round between operators.
#include <doctest/doctest.h>

#include <cmath>

#include "backends/reference/interpret_graph.h"
#include "compiler/compile_graph.h"
#include "compiler/report/report.h"
#include "compiler/trace/record.h"
#include "tests/frontend/small_trainings.h"
#include "tests/sample_tensors.h"
#include "tests/tolerance.h"

namespace fuselet::testing {
namespace {

constexpr GeneratorState kDraws{17, 3};

// Copies, for a run writes into its inputs.
RunOutputs run(const ir::Graph& g, Numerics numerics, std::vector<Tensor>* inputs, const std::vector<double>& cells,
               GeneratorState draws, report::CompileReport* report = nullptr) {
  CompileOptions options;
  options.numerics = numerics;
  for (Tensor& t : *inputs) t = copy_of(t.detach());
  return compile_graph(g, options, report)->run({*inputs, cells, draws});
}

double largest_of(const reference::RefTensor& t) {
  double largest = 0;
  for (double v : t.values) largest = std::max(largest, std::fabs(v));
  return largest;
}

// A sum of products is off by a share of its largest terms: errors are measured against the tensor's largest element.
double percent_of_step(const Tensor& got, const reference::RefTensor& want) {
  Tolerance allowed = tolerance_of("training_step", want.dtype);
  allowed.atol *= largest_of(want);
  return compare(got, want, allowed).percent;
}

// AdamW in double precision, from the gradient averages that the step made. (A gradient that is 0 but for rounding,
// such as that of a key's bias, gives an update of any sign, so whole graphs cannot be compared there.)
reference::RefTensor updated(const Tensor& before, const Tensor& average, const Tensor& squares, double lr,
                             double step) {
  reference::RefTensor out = reference::to_reference(before);
  const std::vector<double> m = average.to_vector(), v = squares.to_vector();
  const optim::AdamWOptions o;
  for (size_t i = 0; i < m.size(); ++i) {
    const double first = m[i] / (1 - std::pow(o.betas.first, step)),
                 second = v[i] / (1 - std::pow(o.betas.second, step));
    out.values[i] = out.values[i] * (1 - lr * o.weight_decay) - lr * first / (std::sqrt(second) + o.eps);
  }
  return out;
}

}  // namespace

TEST_CASE("fused training steps of the examples are within the tolerance of double precision") {
  double worst_of_all = 0;
  for (Example example : kExamples) {
    CAPTURE(name_of(example));
    const std::vector<Batch> batches = batches_of(example, 2);
    SmallTraining t(example, 3);
    RecordedFunction recorded = record(
        [&](const std::vector<Tensor>& in) {
          return t.step({in[0], in[1]});
        },
        {batches[0].inputs.clone(), batches[0].targets.clone()});
    const ir::Graph& g = recorded.graph();
    // Recording has taken the first step; the compiled one is the second.
    std::vector<Tensor> inputs = recorded.lifted();
    inputs[0] = batches[1].inputs;
    inputs[1] = batches[1].targets;
    std::vector<reference::RefTensor> in_double;
    for (const Tensor& in : inputs) in_double.push_back(reference::to_reference(in));
    std::vector<double> cells;
    for (const CellPtr& c : recorded.cells()) cells.push_back(c->get());
    const reference::GraphResult want = reference::interpret(g, in_double, cells, kDraws);
    const std::vector<Tensor> before = inputs;
    const RunOutputs got = run(g, Numerics::Fused, &inputs, cells, kDraws);

    double worst = 0;
    for (size_t i = 0; i < got.outputs.size(); ++i)
      worst = std::max(worst, percent_of_step(got.outputs[i], want.outputs[i]));
    CAPTURE(worst);
    REQUIRE(got.grads.size() == t.model->parameters().size());
    for (size_t i = 0; i < got.grads.size(); ++i) {
      const double percent = percent_of_step(got.grads[i], want.grads[i]);
      if (largest_of(want.grads[i]) > 1e-6) worst = std::max(worst, percent);
    }
    CHECK(worst <= 100);
    // Which input is which: by the tensors that the optimizer holds.
    auto place_of = [&](const Tensor& wanted) {
      for (size_t i = 0; i < before.size(); ++i) {
        if (before[i].raw_data() == wanted.raw_data()) return i;
      }
      fail("a tensor of the optimizer is no input of the graph");
    };
    const State state = t.optimizer->state_dict();
    const std::vector<Tensor> parameters = t.model->parameters();
    double worst_update = 0;
    for (size_t p = 0; p < parameters.size(); ++p) {
      const Tensor average = inputs[place_of(*state.find_tensor(concat(p, ".exp_avg")))],
                   squares = inputs[place_of(*state.find_tensor(concat(p, ".exp_avg_sq")))];
      const size_t at = place_of(parameters[p]);
      const Comparison c = compare(inputs[at], updated(before[at], average, squares, t.optimizer->lr(), 2),
                                   tolerance_of("adam_step", kFloat32));
      worst_update = std::max(worst_update, c.percent);
    }
    CHECK(worst_update <= 100);
    MESSAGE(name_of(example), ": loss, norm and gradients at most ", worst, " % of what is allowed, updates ",
            worst_update, " %");
    worst_of_all = std::max({worst_of_all, worst, worst_update});
  }
  MESSAGE("largest error: ", worst_of_all, " % of what is allowed");
}

namespace {

struct Chain {
  const char* op;  // whose row of the table allows the error
  const char* text;
};

// T stands for the dtype.
constexpr Chain kChains[] = {
    {"gelu_tanh", R"(
  input %0: T[37, 65] argument "x"
  input %1: T[65] argument "b"
  %2: T[37, 65] = mul(%0, 1.5)
  %3: T[37, 65] = add(%2, %1)
  %4: T[37, 65] = gelu_tanh(%3)
  %5: T[37, 65] = mul(%4, %0)
  output %5)"},
    {"layer_norm", R"(
  input %0: T[33, 100] argument "x"
  input %1: T[33, 100] argument "r"
  input %2: T[100] argument "w"
  input %3: T[100] argument "b"
  %4: T[33, 100] = gelu_erf(%0)
  %5: T[33, 100] = add(%4, %1)
  %6: T[33, 100], %7: f32[33, 1], %8: f32[33, 1] = layer_norm_forward(%5, [100], %2, %3, 1e-05)
  output %6)"},
    {"softmax", R"(
  input %0: T[33, 70] argument "x"
  input %1: T[33, 70] argument "y"
  %2: T[33, 70] = mul(%0, 0.3)
  %3: T[33, 70] = add(%2, %1)
  %4: T[33, 70] = softmax(%3, 1, none)
  %5: T[33, 70] = mul(%4, %1)
  output %5)"},
    {"cross_entropy", R"(
  input %0: T[70, 10] argument "x"
  input %1: T[10] argument "b"
  input %2: i64[70] argument "t"
  %3: T[70, 10] = add(%0, %1)
  %4: T[70, 10] = mul(%3, 0.7)
  %5: T[] = cross_entropy_forward(%4, %2, none, "mean", -100, 0.1)
  output %5)"},
    {"sum", R"(
  input %0: T[40, 90] argument "x"
  input %1: T[40, 90] argument "y"
  %2: T[40, 90] = exp(%0)
  %3: T[40, 90] = mul(%2, %1)
  %4: T[40] = sum(%3, [1], false, none)
  output %4)"},
};

ir::Graph graph_of(const Chain& chain, DType dtype) {
  std::string text = concat("graph \"chain\" {", chain.text, "\n}");
  for (size_t at = 0; (at = text.find("T[", at)) != std::string::npos;)
    text.replace(at, 1, dtype == kBFloat16 ? "bf16" : "f16");
  return ir::parse(text);
}

}  // namespace

TEST_CASE("fused chains in 16 bits are within the tolerance of double precision, and nearer to it than exact ones") {
  double worst = 0;
  for (DType dtype : {kBFloat16, kFloat16}) {
    for (const Chain& chain : kChains) {
      CAPTURE(std::string(chain.op));
      CAPTURE(name_of(dtype));
      const ir::Graph g = graph_of(chain, dtype);
      SampleNumbers numbers(11);
      std::vector<Tensor> inputs;
      std::vector<reference::RefTensor> in_double;
      for (const ir::Input& in : g.inputs) {
        const TensorMeta& m = g.meta(in.value);
        std::vector<int64_t> sizes;
        for (SymInt s : m.sizes) sizes.push_back(s.concrete());
        inputs.push_back(sample_tensor(sizes, m.dtype, numbers, is_float(m.dtype) ? Elements{-2, 2} : Elements{0, 9}));
        in_double.push_back(reference::to_reference(inputs.back()));
      }
      const reference::RefTensor want = reference::interpret(g, in_double, {}, kDraws).outputs[0];
      const Tolerance allowed = tolerance_of(chain.op, dtype);
      report::CompileReport report;
      const Comparison fused = compare(run(g, Numerics::Fused, &inputs, {}, kDraws, &report).outputs[0], want, allowed);
      const Comparison exact = compare(run(g, Numerics::Exact, &inputs, {}, kDraws).outputs[0], want, allowed);
      CAPTURE(fused.largest);
      CHECK(report.kernels.size() == 1);
      CHECK(fused.percent <= 100);
      CHECK(fused.percent <= exact.percent);
      MESSAGE(std::string(chain.op), " in ", name_of(dtype), ": fused ", fused.percent, " % of what is allowed, exact ",
              exact.percent, " %");
      worst = std::max(worst, fused.percent);
    }
  }
  MESSAGE("largest error: ", worst, " % of what is allowed");
}

}  // namespace fuselet::testing
