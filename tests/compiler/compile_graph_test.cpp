// Graphs compiled and run: exact numerics equal the operators run one by one, bit for bit, and memory stays right.
#include "compiler/compile_graph.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "compiler/replay/interpret.h"
#include "compiler/report/report.h"
#include "compiler/stage_driver.h"
#include "core/dispatch_state.h"
#include "core/ops/functions.h"

namespace fuselet {
namespace {

constexpr GeneratorState kDraws{17, 3};

ir::Graph graph_of(const std::string& text) { return ir::parse("graph \"g\" {\n" + text + "}"); }

// Values of [-1, 1) or small integers, in the layout of each input.
std::vector<Tensor> inputs_for(const ir::Graph& g) {
  manual_seed(5);
  std::vector<Tensor> out;
  for (const ir::Input& in : g.inputs) {
    const TensorMeta& m = g.meta(in.value);
    Tensor t = is_float(m.dtype) ? (rand(m.sizes, DType::Float32) * 2 - 1).to(m.dtype)
                                 : randint(0, 5, m.sizes, DType::Int64).to(m.dtype);
    Tensor laid_out = empty({span_of(m.sizes, m.strides)}, m.dtype).as_strided(m.sizes, m.strides);
    out.push_back(laid_out.copy_(t));
  }
  return out;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (!same_sizes(a.sizes(), b.sizes()) || a.dtype() != b.dtype()) return false;
  Tensor x = a.clone(true), y = b.clone(true);
  const size_t bytes = static_cast<size_t>(x.numel()) * size_of(x.dtype());
  return bytes == 0 || std::memcmp(x.impl()->data(), y.impl()->data(), bytes) == 0;
}

struct Ran {
  std::vector<Tensor> outputs, inputs;
};

Ran run_compiled(const ir::Graph& g, Numerics numerics, report::CompileReport* report = nullptr) {
  CompileOptions options;
  options.numerics = numerics;
  auto executable = compile_graph(g, options, report);
  Ran ran{{}, inputs_for(g)};
  std::vector<double> scalars(g.cells.size(), 0.25);
  for (int twice = 0; twice < 2; ++twice) {  // the second call takes the context of the first
    ran.inputs = inputs_for(g);
    ran.outputs = executable->run({ran.inputs, scalars, kDraws}).outputs;
  }
  return ran;
}

Ran run_one_by_one(const ir::Graph& g) {
  NoGradGuard no_grad;
  Ran ran{{}, inputs_for(g)};
  std::vector<ir::ValueId> wanted = g.outputs;
  for (const ir::Write& w : g.writes) wanted.push_back(w.value);
  std::vector<CellPtr> cells;
  for (const std::string& name : g.cells) cells.push_back(make_intrusive<HostCell>(0.25, name));
  std::vector<Tensor> values = replay::interpret(g, ran.inputs, cells, kDraws, wanted);
  for (size_t i = 0; i < g.writes.size(); ++i) values[g.outputs.size() + i] = values[g.outputs.size() + i].clone();
  for (size_t i = 0; i < g.outputs.size(); ++i) ran.outputs.push_back(values[i].clone());
  for (size_t i = 0; i < g.writes.size(); ++i)
    ran.inputs[static_cast<size_t>(g.writes[i].input)].copy_(values[g.outputs.size() + i]);
  return ran;
}

void check_exact(const std::string& text) {
  const ir::Graph g = graph_of(text);
  const Ran want = run_one_by_one(g), got = run_compiled(g, Numerics::Exact);
  CAPTURE(text);
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    CAPTURE(i);
    CHECK(same_bits(got.outputs[i], want.outputs[i]));
  }
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    CAPTURE(i);
    CHECK(same_bits(got.inputs[i], want.inputs[i]));
  }
}

TEST_CASE("exact compiled graphs equal the operators run one by one, bit for bit") {
  SUBCASE("a chain, broadcasting, and a permuted reader") {
    check_exact(R"(
  input %0: f32[37, 19] argument "x"
  input %1: f32[19] argument "b"
  %2: f32[37, 19] = add(%0, %1)
  %3: f32[37, 19] = gelu_erf(%2)
  %4: f32[19, 37]{1, 19} = transpose(%3, 0, 1)
  %5: f32[19, 37] = mul(%4, 0.3)
  output %3
  output %5
)");
  }
  SUBCASE("softmax and its gradient, rows and columns") {
    check_exact(R"(
  input %0: f32[33, 700] argument "x"
  input %1: f32[33, 700] argument "g"
  %2: f32[33, 700] = softmax(%0, 1, none)
  %3: f32[33, 700] = softmax_grad(%1, %2, 1)
  %4: f32[33, 700] = log_softmax(%0, 0, none)
  output %2
  output %3
  output %4
)");
  }
  SUBCASE("sums over nothing") {
    check_exact(R"(
  input %0: f16[0] argument "x"
  input %1: f32[3, 0] argument "y"
  input %2: f32[0, 3] argument "z"
  %3: f16[] = sum(%0, [], false, none)
  %4: f32[3] = sum(%1, [1], false, none)
  %5: f32[3] = sum(%2, [0], false, none)
  %6: f32[3] = add(%4, 1.0)
  output %3
  output %5
  output %6
)");
  }
  SUBCASE("a sum of column sums, and a softmax of them") {
    check_exact(R"(
  input %0: f32[9, 11] argument "x"
  %1: f32[11] = sum(%0, [0], false, none)
  %2: f32[] = sum(%1, [], false, none)
  %3: f32[9, 11] = sub(%0, %2)
  %4: f32[11] = amax(%0, [0], false)
  %5: f32[] = amax(%4, [0], false)
  %6: f32[11] = softmax(%1, 0, none)
  output %2
  output %3
  output %5
  output %6
)");
  }
  SUBCASE("one row, whose column sums combine a single element") {
    check_exact(R"(
  input %0: f32[6] argument "g"
  input %1: f32[6] argument "x"
  input %2: f32[1] argument "mean"
  input %3: f32[1] argument "rstd"
  input %4: f32[6] argument "w"
  %5: f32[6], %6: f32[6], %7: f32[6] = layer_norm_grad(%0, %1, %2, %3, %4, [6])
  output %5
  output %6
  output %7
)");
  }
  SUBCASE("layer norm with dropout before it, forward and backward") {
    check_exact(R"(
  input %0: f32[130, 100] argument "x"
  input %1: f32[100] argument "w"
  input %2: f32[100] argument "b"
  input %3: f32[130, 100] argument "g"
  %4: f32[130, 100] = gelu_tanh(%0)
  %5: f32[130, 100], %6: b8[130, 100] = dropout_forward(%4, 0.3) draw 0
  %7: f32[130, 100], %8: f32[130, 1], %9: f32[130, 1] = layer_norm_forward(%5, [100], %1, %2, 1e-05)
  %10: f32[130, 100], %11: f32[100], %12: f32[100] = layer_norm_grad(%3, %5, %8, %9, %1, [100])
  %13: f32[130, 100] = dropout_grad(%10, %6, 0.3)
  %14: f32[130, 100] = gelu_tanh_grad(%13, %0)
  output %7
  output %11
  output %12
  output %14
)");
  }
  SUBCASE("cross entropy and its gradient") {
    check_exact(R"(
  input %0: f32[70, 5] argument "x"
  input %1: i64[70] argument "t"
  input %2: f32[] argument "g"
  %3: f32[] = cross_entropy_forward(%0, %1, none, "mean", -100, 0.1)
  %4: f32[70, 5] = cross_entropy_grad(%2, %0, %1, none, "mean", -100, 0.1)
  output %3
  output %4
)");
  }
  SUBCASE("16 bits") {
    check_exact(R"(
  input %0: bf16[37, 65] argument "x"
  input %1: f16[37, 65] argument "y"
  %2: bf16[37, 65] = exp(%0)
  %3: bf16[37, 65] = mul(%2, %0)
  %4: bf16[37] = sum(%3, [1], false, none)
  %5: f16[37, 65] = add(%1, 0.1)
  %6: f32[37, 65] = add(%5, %3)
  output %3
  output %4
  output %6
)");
  }
  SUBCASE("integers, bools and doubles") {
    check_exact(R"(
  input %0: i32[41, 7] argument "x"
  input %1: f64[41, 7] argument "y"
  %2: i32[41, 7] = mul(%0, 3)
  %3: b8[41, 7] = gt(%2, 4)
  %4: f64[41, 7] = where(%3, %1, 0)
  %5: f64[7] = sum(%4, [0], false, none)
  %6: i64[41] = sum(%3, [1], false, none)
  output %2
  output %4
  output %5
  output %6
)");
  }
  SUBCASE("an optimizer's step, in place") {
    check_exact(R"(
  input %0: f32[31, 9] lifted "w"
  input %1: f32[9] lifted "b"
  input %2: f32[31, 9] lifted "mw"
  input %3: f32[9] lifted "mb"
  input %4: f32[31, 9] lifted "vw"
  input %5: f32[9] lifted "vb"
  input %6: f32[31, 9] argument "gw"
  input %7: f32[9] argument "gb"
  cell $0 "lr"
  cell $1 "step"
  cell $2 "beta1"
  cell $3 "beta2"
  advance $1 by 1.0
  %8: f32[31, 9] = mul(%4, %4)
  %9: f32[9] = mul(%5, %5)
  %10: f32[31, 9], %11: f32[9], %12: f32[31, 9], %13: f32[9], %14: f32[31, 9], %15: f32[9] = adam_step([%0, %1], [%6, %7], [%2, %3], [%8, %9], $0, $1, $2, $3, 1e-08, 0.01, true, false)
  write %0 <- %10
  write %1 <- %11
  write %2 <- %12
  write %3 <- %13
  write %4 <- %14
  write %5 <- %15
)");
  }
  SUBCASE("gradients clipped by their norm") {
    check_exact(R"(
  input %0: f32[31, 900] argument "g"
  input %1: f32[9] argument "h"
  %2: f32[31, 900], %3: f32[9], %4: f32[] = clip_grad_norm([%0, %1], 0.5, 2.0)
  output %2
  output %3
  output %4
)");
  }
  SUBCASE("gathers and embeddings") {
    check_exact(R"(
  input %0: f32[11, 33] argument "w"
  input %1: i64[6, 4] argument "i"
  input %2: i64[6] argument "k"
  %3: f32[6, 4, 33] = embedding(%0, %1, none)
  %4: f32[6, 4, 33] = mul(%3, 2.0)
  %5: f32[6, 33] = index_select(%0, 0, %2)
  output %4
  output %5
)");
  }
  SUBCASE("random numbers, an unused draw among them") {
    check_exact(R"(
  input %0: f32[300, 7] argument "x"
  %1: f32[300, 7] = rand([300, 7], f32, @cpu) draw 0
  %2: f32[5] = rand([5], f32, @cpu) draw 1
  %3: f32[300, 1] = randn([300, 1], f32, @cpu) draw 2
  %4: f32[300, 7] = add(%0, %3)
  %5: f32[300, 7] = mul(%4, %1)
  output %5
)");
  }
  SUBCASE("a written input that is read before and after, and returned as it was") {
    check_exact(R"(
  input %0: f32[40] argument "x"
  %1: f32[40] = mul(%0, 2.0)
  %2: f32[40] = add(%1, %0)
  write %0 <- %1
  output %0
  output %2
)");
  }
  SUBCASE("products between kernels, and a view as output") {
    check_exact(R"(
  input %0: f32[40, 30] argument "x"
  input %1: f32[20, 30] argument "w"
  input %2: f32[20] argument "b"
  %3: f32[40, 20] = linear(%0, %1, %2)
  %4: f32[40, 20] = relu(%3)
  %5: f32[20, 40]{1, 20} = transpose(%4, 0, 1)
  %6: f32[20, 30] = matmul(%5, %0)
  output %5
  output %6
)");
  }
  SUBCASE("batches of products, large ones, and vectors, with work on their parts") {
    check_exact(R"(
  input %0: f32[3, 40, 30] argument "x"
  input %1: f32[30, 50] argument "w"
  input %2: f32[3, 50, 20] argument "y"
  input %3: f32[20] argument "b"
  input %4: f32[30] argument "v"
  %5: f32[3, 40, 50] = matmul(%0, %1)
  %6: f32[3, 40, 50] = relu(%5)
  %7: f32[3, 40, 20] = matmul(%6, %2)
  %8: f32[3, 40, 20] = add(%7, %3)
  %9: f32[3, 40, 20] = mul(%8, %7)
  %10: f32[3, 40] = matmul(%0, %4)
  %11: f32[3, 40] = exp(%10)
  output %7
  output %9
  output %11
)");
    check_exact(R"(
  input %0: f32[300, 280] argument "x"
  input %1: f32[280] argument "b"
  %2: f32[280, 300]{1, 280} = transpose(%0, 0, 1)
  %3: f32[280, 280] = matmul(%2, %0)
  %4: f32[280, 280] = add(%3, %1)
  %5: f32[280, 280], %6: b8[280, 280] = dropout_forward(%4, 0.3) draw 0
  output %5
)");
  }
  SUBCASE("empty tensors and scalars") {
    check_exact(R"(
  input %0: f32[0, 5] argument "x"
  input %1: f32[] argument "y"
  %2: f32[0, 5] = mul(%0, %1)
  %3: f32[5] = sum(%2, [0], false, none)
  %4: f32[] = exp(%1)
  output %2
  output %3
  output %4
)");
  }
}

TEST_CASE("an index out of range is an IndexError, and inputs stay as they were") {
  const ir::Graph g = graph_of(R"(
  input %0: f32[4] lifted "w"
  input %1: i64[1] argument "i"
  %2: f32[1] = index_select(%0, 0, %1)
  %3: f32[4] = add(%0, 1.0)
  write %0 <- %3
  output %2
)");
  auto executable = compile_graph(g, {});
  Tensor w = zeros({4});
  Tensor i = full({1}, 7, DType::Int64);
  std::vector<Tensor> inputs = {w, i};
  CHECK_THROWS_AS(executable->run({inputs, {}, kDraws}), IndexError);
  CHECK(w.to_vector() == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("fused numerics drop a rounding only where nobody sees the rounded value") {
  // 1 + 2^-9 rounds to 1 in bfloat16: (x + 2^-9) - 1 is 0 rounded after each operator, 2^-9 in one kernel.
  const std::string body = R"(
  input %0: bf16[8] argument "x"
  %1: bf16[8] = mul(%0, 0.0)
  %2: bf16[8] = add(%1, 1.0)
  %3: bf16[8] = add(%2, 0.001953125)
  %4: bf16[8] = sub(%3, 1.0)
  output %4
)";
  CHECK(run_compiled(graph_of(body), Numerics::Exact).outputs[0].to_vector()[0] == 0);
  CHECK(run_compiled(graph_of(body), Numerics::Fused).outputs[0].to_vector()[0] == 0.001953125);
  CHECK(run_compiled(graph_of(body + "  output %3\n"), Numerics::Fused).outputs[0].to_vector()[0] == 0);
}

TEST_CASE("a cast that the user wrote rounds in every mode") {
  const ir::Graph g = graph_of(R"(
  input %0: f32[3] argument "x"
  %1: f32[3] = mul(%0, 0.0)
  %2: f32[3] = add(%1, 257.0)
  %3: bf16[3] = cast(%2, bf16)
  %4: f32[3] = cast(%3, f32)
  output %4
)");
  CHECK(run_compiled(g, Numerics::Fused).outputs[0].to_vector()[0] == 256);
}

TEST_CASE("a stage that fails names itself and keeps what it failed on") {
  const ir::Graph g = graph_of("  input %0: f32[3] argument \"x\"\n  %1: f32[3] = exp(%0)\n  output %1\n");
  CompileOptions options;
  StageDriver driver(g, options, nullptr);
  try {
    driver.stage(
        "fuse", []() -> int { throw std::runtime_error("something went wrong"); }, [](int) { return ""; });
    FAIL("the failure was swallowed");
  } catch (const InternalError& e) {
    const std::string text = e.what();
    CHECK(text.find("[fuse] something went wrong") != std::string::npos);
    const size_t at = text.find("is in ") + 6;
    const std::string path = text.substr(at, text.find(".graph", at) + 6 - at);
    std::ifstream file(path);
    std::string kept((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    CHECK(ir::print(ir::parse(kept)) == ir::print(g));
    std::remove(path.c_str());
  }
}

TEST_CASE("a graph that cannot be is the mistake of the stage that the caller gave") {
  CompileOptions options;
  options.stages["passes"] = [](const ir::Graph& g) {
    ir::Graph broken = g;
    broken.outputs.push_back(1000);
    return broken;
  };
  const ir::Graph g = graph_of("  input %0: f32[3] argument \"x\"\n  %1: f32[3] = exp(%0)\n  output %1\n");
  CHECK_THROWS_WITH_AS(compile_graph(g, options), doctest::Contains("the stage 'passes' given in stages"), Error);
  options.stages.clear();
  options.stages["fuse"] = [](const ir::Graph& x) { return x; };
  CHECK_THROWS_AS(check_stages(options.stages), Error);
}

}  // namespace
}  // namespace fuselet
