// Records joint graphs, and runs them whole or in the two parts of a partition.
#pragma once
#include <doctest/doctest.h>

#include <cstring>

#include "compiler/joint/joint_graph.h"
#include "compiler/partition/partition.h"
#include "compiler/passes/eliminate_dead_code.h"
#include "compiler/passes/forward_identities.h"
#include "compiler/passes/merge_common_subexpressions.h"
#include "compiler/replay/interpret.h"
#include "core/dispatch_state.h"
#include "core/ops/functions.h"

namespace fuselet {

inline constexpr GeneratorState kDraws{17, 1000};

inline bool same_bits(const Tensor& a, const Tensor& b) {
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

inline std::vector<CellPtr> cells_of(const std::vector<double>& values) {
  std::vector<CellPtr> out;
  for (double v : values) out.push_back(make_intrusive<HostCell>(v, "cell"));
  return out;
}

inline std::vector<Tensor> run_joint(const Recorded& r, const ir::Graph& g) {
  NoGradGuard no_grad;
  return replay::interpret(g, r.inputs, cells_of(r.cells), kDraws, g.outputs);
}

// Forward outputs, then gradients. The forward's writes take place before the backward runs.
inline std::vector<Tensor> run_parts(const Recorded& r, const Partition& p) {
  NoGradGuard no_grad;
  std::vector<Tensor> inputs, given, tangents;
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    inputs.push_back(r.inputs[i].clone(true));
    bool flows_in = r.joint.graph.inputs[i].kind == ir::InputKind::Tangent;
    (flows_in ? tangents : given).push_back(inputs.back());
  }
  std::vector<ir::ValueId> wanted = p.forward.outputs;
  for (const ir::Write& w : p.forward.writes) wanted.push_back(w.value);
  std::vector<CellPtr> cells = cells_of(r.cells);
  std::vector<Tensor> out = replay::interpret(p.forward, given, cells, kDraws, wanted);
  for (Tensor& t : out) t = t.clone(true);
  for (size_t i = 0; i < p.forward.writes.size(); ++i)
    given[static_cast<size_t>(p.forward.writes[i].input)].copy_(out[p.forward.outputs.size() + i]);
  std::vector<Tensor> backward_inputs;
  for (const SavedValue& s : p.saved)
    backward_inputs.push_back(s.input >= 0 ? inputs[static_cast<size_t>(s.input)] : out[static_cast<size_t>(s.output)]);
  backward_inputs.insert(backward_inputs.end(), tangents.begin(), tangents.end());
  std::vector<double> scalars;
  for (const SavedScalar& s : p.scalars) scalars.push_back(s.value(r.cells[static_cast<size_t>(s.cell)]));
  out.resize(p.num_forward_outputs);
  std::vector<Tensor> gradients =
      replay::interpret(p.backward, backward_inputs, cells_of(scalars), kDraws, p.backward.outputs);
  out.insert(out.end(), gradients.begin(), gradients.end());
  return out;
}

inline void check_same(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
}

inline ir::Graph cleaned(ir::Graph g) {
  for (bool changed = true; changed;) {
    changed = forward_identities(g);
    changed = merge_common_subexpressions(g) || changed;
    changed = eliminate_dead_code(g) || changed;
  }
  ir::verify(g);
  return g;
}

}  // namespace fuselet
