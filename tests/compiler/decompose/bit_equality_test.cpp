// Every operator's decomposition, run primitive by primitive on the CPU, gives the bits of the eager operator: over all
// samples, in all dtypes.
#include <doctest/doctest.h>

#include <cstring>
#include <set>

#include "compiler/decompose/decompose.h"
#include "compiler/ir/legality.h"
#include "compiler/replay/interpret.h"
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
  OneNode(const Op& op, const OpSample& sample) {
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

std::string check_sample(const Op& op, const OpSample& sample) {
  try {
    OneNode one(op, sample);
    ir::Graph prims = decompose(one.graph);
    ir::verify(prims, ir::Stage::Decompose);
    if (op.id == OpId::empty) return "";  // holds what it likes
    std::vector<Tensor> want = replay::interpret(one.graph, one.inputs, {}, {kSeed, 0}, one.graph.outputs);
    std::vector<Tensor> got = replay::interpret(prims, one.inputs, {}, {kSeed, 0}, prims.outputs);
    std::string difference = first_difference(want, got);
    return difference.empty() ? "" : difference + "\n" + ir::print(prims);
  } catch (const std::exception& e) {
    return concat("throws: ", e.what());
  }
}

}  // namespace

TEST_CASE("every decomposed operator computes the bits of the eager one") {
  int calls = 0;
  NoGradGuard no_grad;
  for (const Op& op : all_ops()) {
    if (op.composite) continue;
    for (DType dtype : dtypes_of(op)) {
      std::string failure;
      for (const OpSample& sample : samples_of(op, dtype)) {
        ++calls;
        if (!failure.empty()) continue;
        std::string wrong = check_sample(op, sample);
        if (!wrong.empty()) failure = describe(op, sample) + ": " + wrong;
      }
      CHECK_MESSAGE(failure.empty(), failure);
    }
  }
  MESSAGE(calls, " calls");
}
