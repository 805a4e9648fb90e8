// Every operator's decomposition, run primitive by primitive on the CPU, gives the bits of the eager operator: over all
// samples, in all dtypes.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "compiler/decompose/decompose.h"
#include "compiler/ir/legality.h"
#include "compiler/passes/run_passes.h"
#include "compiler/replay/interpret.h"
#include "core/element.h"
#include "core/generator.h"
#include "core/ops/functions.h"
#include "tests/op_samples.h"

using namespace fuselet;
using namespace fuselet::testing;

namespace {

constexpr uint64_t kSeed = 77;

// A graph of one node, and the tensors that are its inputs.
class OneNode {
 public:
  // `specials`: some elements of floating tensors become zeros of both signs, infinities and NaN.
  OneNode(const Op& op, const OpSample& sample, bool specials) : specials_(specials) {
    std::vector<ir::GraphArg> args;
    std::vector<Arg> boxed;
    for (const OwnedArg& arg : sample.args) {
      args.push_back(std::visit([&](const auto& a) { return convert(a); }, arg));
      boxed.push_back(view_of(arg));
    }
    Call call{&op, boxed.data(), static_cast<int>(boxed.size()), nullptr, 0};
    std::vector<TensorMeta> metas(static_cast<size_t>(count_outputs(call)));
    op.shape(call, metas.data());
    for (TensorMeta& m : metas) m.offset = 0;
    graph.add_node(op.id, std::move(args), std::move(metas), {{0}, "", false}, op.kind == OpKind::Random ? 0 : -1);
    graph.draws = op.kind == OpKind::Random;
    graph.outputs = graph.nodes[0].outputs;
  }

  ir::Graph graph;
  std::vector<Tensor> inputs;

 private:
  bool specials_;
  ir::GraphArg convert(const Tensor& t) { return input(t); }
  ir::GraphArg convert(const std::vector<Tensor>& list) {
    std::vector<ir::ValueRef> refs;
    for (const Tensor& t : list) refs.push_back(input(t));
    return refs;
  }
  template <class T>
  ir::GraphArg convert(const T& plain) {
    return plain;
  }
  // An input lies at the start of its memory.
  ir::ValueRef input(const Tensor& t) {
    Dims sizes(t.sizes()), strides(t.strides());
    Tensor own(make_intrusive<TensorImpl>(
        make_intrusive<Storage>(static_cast<size_t>(span_of(sizes, strides)) * size_of(t.dtype()), Device{}), sizes,
        strides, 0, t.dtype()));
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (strides[d] != 0 || sizes[d] == 0) continue;
      sizes[d] = 1;
    }
    own.as_strided(sizes, strides).copy_(t.as_strided(sizes, strides, t.impl()->offset()));
    if (specials_ && is_float(t.dtype())) {
      constexpr double kSpecials[] = {-0.0, 0.0, -0.0, INFINITY, -0.0, 0.0, NAN, -INFINITY};
      int64_t held = span_of(t.sizes(), strides);
      for (int64_t i = 0; i < held; i += 3)
        store_element(t.dtype(), own.impl()->data(), i, kSpecials[static_cast<size_t>(i / 3 % 8)]);
    }
    inputs.push_back(own);
    TensorMeta meta{Dims(t.sizes()), strides, 0, t.dtype(), Device{}};
    return {graph.add_input(ir::InputKind::Argument, std::to_string(inputs.size() - 1), meta)};
  }
};

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !same_sizes(a.sizes(), b.sizes()) || !same_sizes(a.strides(), b.strides()))
    return false;
  Tensor x = a.contiguous(), y = b.contiguous();
  size_t element = size_of(x.dtype());
  std::vector<double> values = is_float(a.dtype()) ? x.to_vector() : std::vector<double>();
  std::vector<double> others = is_float(a.dtype()) ? y.to_vector() : std::vector<double>();
  for (size_t i = 0; i < static_cast<size_t>(x.numel()); ++i) {
    const char* p = static_cast<const char*>(x.raw_data()) + i * element;
    const char* q = static_cast<const char*>(y.raw_data()) + i * element;
    bool both_nan = !values.empty() && values[i] != values[i] && others[i] != others[i];
    if (std::memcmp(p, q, element) != 0 && !both_nan) return false;
  }
  return true;
}

std::string first_difference(const std::vector<Tensor>& want, const std::vector<Tensor>& got) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (!same_bits(want[i], got[i]))
      return concat("result ", i, ": ", name_of(got[i].dtype()), to_string(got[i].sizes()), " strides ",
                    to_string(got[i].strides()), ", eager ", name_of(want[i].dtype()), to_string(want[i].sizes()),
                    " strides ", to_string(want[i].strides()));
  }
  return "";
}

std::string check_sample(const Op& op, const OpSample& sample, bool specials) {
  try {
    OneNode one(op, sample, specials);
    ir::Graph prims = decompose(one.graph);
    ir::verify(prims, ir::Stage::Decompose);
    if (op.id == OpId::empty) return "";  // holds what it likes
    std::vector<Tensor> want = replay::interpret(one.graph, one.inputs, {}, {kSeed, 0}, one.graph.outputs);
    ir::Graph clean = prims;
    run_passes(clean, [](std::string_view, const ir::Graph& g, bool) { ir::verify(g, ir::Stage::Decompose); });
    ir::verify(clean, ir::Stage::Passes);
    for (const ir::Graph* g : {&prims, &clean}) {
      std::vector<Tensor> got = replay::interpret(*g, one.inputs, {}, {kSeed, 0}, g->outputs);
      std::string difference = first_difference(want, got);
      if (!difference.empty()) return difference + "\n" + ir::print(prims) + "after passes:\n" + ir::print(clean);
    }
    return "";
  } catch (const std::exception& e) {
    return concat("throws: ", e.what());
  }
}

template <class Choose>
void check_all(Choose choose, bool specials = false) {
  int calls = 0;
  NoGradGuard no_grad;
  for (const Op& op : all_ops()) {
    if (op.composite || !choose(op)) continue;
    for (DType dtype : dtypes_of(op)) {
      std::string failure;
      for (const OpSample& sample : samples_of(op, dtype)) {
        ++calls;
        if (!failure.empty()) continue;
        std::string wrong = check_sample(op, sample, specials);
        if (!wrong.empty()) failure = describe(op, sample) + ": " + wrong;
      }
      CHECK_MESSAGE(failure.empty(), failure);
    }
  }
  MESSAGE(calls, " calls");
}

}  // namespace

TEST_CASE("every operator, decomposed and cleaned, computes the bits of the eager one") {
  check_all([](const Op&) { return true; });
}

TEST_CASE("decomposed operators keep zeros' signs, infinities and NaN") {
  check_all([](const Op&) { return true; }, true);
}

TEST_CASE("a class out of range stays an error, a negative one too") {
  ir::Graph prims = decompose(ir::parse(R"(graph "g" {
  input %0: f32[2, 3] argument "0"
  input %1: i64[2] argument "1"
  %2: f32[] = cross_entropy_forward(%0, %1, none, "mean", -100, 0.0)
  output %2
}
)"));
  SampleNumbers numbers(1);
  Tensor logits = sample_tensor({2, 3}, DType::Float32, numbers);
  auto run = [&](double first, double second) {
    return replay::interpret(prims, {logits, tensor_of({2}, DType::Int64, {first, second})}, {}, {}, prims.outputs);
  };
  CHECK_NOTHROW(run(2, -100));
  CHECK_THROWS_AS(run(0, 3), Error);
  CHECK_THROWS_AS(run(-1, 0), Error);
}

// Integers that meet a fraction, or are divided, take the default dtype.
TEST_CASE("decomposed pointwise operators follow another default dtype") {
  for (DType dtype : {DType::Float64, DType::BFloat16}) {
    StateGuard<DType> guard(&DispatchState::default_dtype, dtype);
    check_all([](const Op& op) { return op.kind == OpKind::Pointwise || op.kind == OpKind::Factory; });
  }
}
