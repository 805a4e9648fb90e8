#include "compiler/decompose/decompose.h"

#include "compiler/ir/node_call.h"
#include "compiler/trace/recorder.h"
#include "core/decomposition.h"

namespace fuselet {
namespace {

// Records the graph's own nodes again, each through its decomposition if it has one.
class Rebuild {
 public:
  explicit Rebuild(const ir::Graph& from) : from_(from), recorder_(from.name), values_(from.values.size()) {
    for (const ir::Input& in : from.inputs) {
      values_[static_cast<size_t>(in.value)] = recorder_.add_input(in.kind, in.name, from.meta(in.value));
    }
    for (const std::string& name : from.cells) {
      cells_.push_back(make_intrusive<HostCell>(0.0, name));
      recorder_.add_cell(cells_.back());
    }
  }

  bool run() {
    NoGradGuard no_grad;
    trace::RecordingScope scope(recorder_);
    bool changed = false;
    for (size_t n = 0; n < from_.nodes.size(); ++n) {
      advance_before(n);
      const ir::Node& node = from_.nodes[n];
      recorder_.set_origin(&node.origin);
      ir::NodeCall call(node, values_, &cells_);
      if (Decomposition decomposition = decomposition_of(op_of(node.op))) {
        decomposition(call.get());
        changed = true;
      } else {
        dispatch_below(Layer::Functionalise, call.get());
      }
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        values_[static_cast<size_t>(node.outputs[i])] = call.outputs()[i];
      }
    }
    advance_before(from_.nodes.size());
    finish();
    return changed;
  }

  ir::Graph take() { return std::move(recorder_.graph()); }

 private:
  void advance_before(size_t n) {
    for (; next_ < from_.advances.size() && static_cast<size_t>(from_.advances[next_].before_node) <= n; ++next_) {
      const ir::Advance& a = from_.advances[next_];
      recorder_.record_advance(*cells_[static_cast<size_t>(a.cell.index)], a.by);
    }
  }

  void finish() {
    auto now = [&](ir::ValueId v) { return recorder_.value_of(values_[static_cast<size_t>(v)]); };
    ir::Graph& g = recorder_.graph();
    for (ir::ValueId v : from_.outputs) g.outputs.push_back(now(v));
    for (const ir::Write& w : from_.writes) g.writes.push_back({w.input, now(w.value)});
    for (const ir::Write& w : from_.grads) g.grads.push_back({w.input, now(w.value)});
    ir::number_in_order(g);
  }

  const ir::Graph& from_;
  trace::Recorder recorder_;
  std::vector<Tensor> values_;
  std::vector<CellPtr> cells_;
  size_t next_ = 0;
};

}  // namespace

ir::Graph decompose_once(const ir::Graph& graph, bool* changed) {
  Rebuild rebuild(graph);
  *changed = rebuild.run();
  return rebuild.take();
}

ir::Graph decompose(const ir::Graph& graph) {
  bool changed = false;
  ir::Graph g = decompose_once(graph, &changed);
  while (changed) g = decompose_once(g, &changed);
  return g;
}

}  // namespace fuselet
