// Joint graphs: their gradients are eager's, bit for bit.
#include "compiler/joint/joint_graph.h"

#include <doctest/doctest.h>
#include <fuselet/fuselet.h>

#include <cstring>

#include "autograd/custom_function.h"
#include "compiler/replay/interpret.h"

using namespace fuselet;

namespace {

Tensor row(std::initializer_list<float> v) {
  Tensor t = empty({static_cast<int64_t>(v.size())}, DType::Float32);
  std::copy(v.begin(), v.end(), t.data<float>());
  return t;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (!same_sizes(a.sizes(), b.sizes()) || a.dtype() != b.dtype()) return false;
  Tensor x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.numel()) * size_of(x.dtype())) == 0;
}

template <class F>
JointGraph record_joint(trace::Recorder& recorder, const std::vector<Tensor>& args, F&& f) {
  for (const Tensor& t : args) recorder.add_argument(t);
  std::vector<Tensor> outputs;
  trace::RecordingScope scope(recorder);
  outputs = f(args);
  return make_joint(recorder, outputs);
}

std::vector<Tensor> run(const JointGraph& joint, const trace::Recorder& recorder, const std::vector<Tensor>& tangents,
                        GeneratorState draws) {
  std::vector<Tensor> inputs;
  auto tangent = tangents.begin();
  for (size_t i = 0; i < joint.graph.inputs.size(); ++i) {
    bool flows_in = joint.graph.inputs[i].kind == ir::InputKind::Tangent;
    inputs.push_back(flows_in ? *tangent++ : i < recorder.lifted().size() ? recorder.lifted()[i] : Tensor());
  }
  NoGradGuard no_grad;
  return replay::interpret(joint.graph, inputs, recorder.cells(), draws, joint.graph.outputs);
}

}  // namespace

TEST_CASE("the joint graph of an MLP gives eager's outputs and gradients") {
  manual_seed(3);
  nn::Sequential model(nn::Linear(6, 8), nn::ReLU(), nn::Dropout(0.25), nn::Linear(8, 4));
  Tensor x = randn({5, 6}).requires_grad_(true), tangent = randn({5, 4});
  GeneratorState draws = default_generator().state();
  Tensor y = model(x);
  y.backward(tangent);
  trace::Recorder recorder("mlp");
  JointGraph joint =
      record_joint(recorder, {x}, [&](const std::vector<Tensor>& a) { return std::vector<Tensor>{model(a[0])}; });
  ir::verify(joint.graph);
  CHECK(ir::print(ir::parse(ir::print(joint.graph))) == ir::print(joint.graph));
  CHECK(joint.num_forward_outputs == 1);
  CHECK(joint.tangents == std::vector<int32_t>{0});
  REQUIRE(joint.gradients.size() == 5);
  std::vector<Tensor> got = run(joint, recorder, {tangent}, draws);
  CHECK(same_bits(got[0], y.detach()));
  for (size_t i = 0; i < joint.gradients.size(); ++i) {
    const JointGradient& g = joint.gradients[i];
    REQUIRE(g.edge.leaf);
    CHECK(joint.graph.inputs[static_cast<size_t>(g.input)].kind != ir::InputKind::Tangent);
    CHECK(recorder.lifted()[static_cast<size_t>(g.input)].is_same(Tensor(g.edge.leaf)));
    CHECK(same_bits(got[1 + i], Tensor(g.edge.leaf).grad()));
  }
}

TEST_CASE("several outputs have a tangent each where they require grad, and an output may be an input") {
  Tensor x = row({1, 2, 3}).requires_grad_(true);
  trace::Recorder recorder("two");
  JointGraph joint = record_joint(recorder, {x}, [](const std::vector<Tensor>& a) {
    return std::vector<Tensor>{a[0] * a[0], a[0].detach() + 1, a[0]};
  });
  CHECK(joint.num_forward_outputs == 3);
  CHECK(joint.tangents == std::vector<int32_t>{0, 2});
  std::vector<Tensor> got = run(joint, recorder, {row({1, 10, 100}), row({5, 5, 5})}, {});
  CHECK(got[3].to_vector() == std::vector<double>{2 * 1 * 1 + 5, 2 * 2 * 10 + 5, 2 * 3 * 100 + 5});
}

TEST_CASE("without anything that requires grad there is no backward") {
  Tensor x = row({1, 2});
  trace::Recorder recorder("plain");
  JointGraph joint =
      record_joint(recorder, {x}, [](const std::vector<Tensor>& a) { return std::vector<Tensor>{a[0] * 2}; });
  CHECK(joint.tangents.empty());
  CHECK(joint.gradients.empty());
  CHECK(joint.graph.outputs.size() == 1);
}

TEST_CASE(
    "the tape ends at tensors from outside: what lies behind them is neither walked nor freed, and no hook runs") {
  Tensor x = row({1, 2}).requires_grad_(true);
  Tensor outside = x * x;
  int hooks = 0;
  auto count = [&](const Tensor& g) {
    ++hooks;
    return g;
  };
  outside.register_hook(count);
  x.register_hook(count);
  trace::Recorder recorder("outside");
  JointGraph joint =
      record_joint(recorder, {x}, [&](const std::vector<Tensor>& a) { return std::vector<Tensor>{outside * a[0]}; });
  CHECK(hooks == 0);
  REQUIRE(joint.gradients.size() == 2);
  CHECK(joint.gradients[0].edge.leaf == x.ptr());
  CHECK(joint.gradients[0].input == 0);
  CHECK(joint.gradients[1].edge.node == gradient_edge(outside).node);
  CHECK(joint.gradients[1].input == 1);
  std::vector<Tensor> got = run(joint, recorder, {row({1, 1})}, {});
  CHECK(got[1].to_vector() == std::vector<double>{1, 4});  // by x alone: x * x stands still
  CHECK(got[2].to_vector() == std::vector<double>{1, 2});
  outside.sum().backward();
  CHECK(x.grad().to_vector() == std::vector<double>{2, 4});
  CHECK(hooks == 2);
}

TEST_CASE("custom functions and writes through views are walked like operators") {
  Tensor x = row({1, 2, 3}).requires_grad_(true), tangent = row({1, 10, 100});
  auto body = [](const std::vector<Tensor>& a) {
    Tensor doubled;
    {
      NoGradGuard no_grad;
      doubled = a[0] * 2;
    }
    record_custom_function("double", {a[0]}, {doubled},
                           [](std::vector<Tensor> g) { return std::vector<Tensor>{g[0] * 2}; });
    Tensor y = doubled * a[0];
    y.slice(0, 1, 3).mul_(5);
    return std::vector<Tensor>{y};
  };
  trace::Recorder recorder("custom");
  JointGraph joint = record_joint(recorder, {x}, body);
  REQUIRE(joint.gradients.size() == 1);
  std::vector<Tensor> got = run(joint, recorder, {tangent}, {});
  CHECK(got[0].to_vector() == std::vector<double>{2, 40, 90});
  CHECK(got[1].to_vector() == std::vector<double>{4 * 1, 20 * 2 * 10, 20 * 3 * 100});  // of 2 x^2 and 10 x^2
  body({x})[0].backward(tangent);
  CHECK(same_bits(got[1], x.grad()));
}

TEST_CASE("writes into inputs are listed, and their old values stay in the backward") {
  Tensor x = row({1, 2}).requires_grad_(true), count = row({3, 4});
  trace::Recorder recorder("writes");
  JointGraph joint = record_joint(recorder, {x}, [&](const std::vector<Tensor>& a) {
    Tensor y = a[0] * count.clone();
    count.add_(1);
    return std::vector<Tensor>{y};
  });
  CHECK(joint.graph.writes.size() == 1);
  std::vector<Tensor> got = run(joint, recorder, {row({1, 1})}, {});
  CHECK(got[1].to_vector() == std::vector<double>{3, 4});
}
