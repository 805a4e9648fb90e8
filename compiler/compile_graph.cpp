#include "compiler/compile_graph.h"

#include "compiler/replay/interpret.h"
#include "core/dispatch_state.h"
#include "core/ops/functions.h"

namespace fuselet {
namespace {

// Runs the graph operator by operator.
class InterpretedGraph final : public Executable {
 public:
  explicit InterpretedGraph(const ir::Graph& graph) : graph_(graph) {}
  const ir::Graph& graph() const override { return graph_; }

  RunOutputs run(const RunInputs& in) const override {
    NoGradGuard no_grad;
    std::vector<ir::ValueId> wanted = graph_.outputs;
    for (const ir::Write& w : graph_.writes) wanted.push_back(w.value);
    for (const ir::Write& w : graph_.grads) wanted.push_back(w.value);
    std::vector<CellPtr> cells;
    for (size_t i = 0; i < graph_.cells.size(); ++i)
      cells.push_back(make_intrusive<HostCell>(in.scalars[i], graph_.cells[i]));
    std::vector<Tensor> inputs(in.inputs.begin(), in.inputs.end());
    std::vector<Tensor> values = replay::interpret(graph_, inputs, cells, in.draws, wanted);
    for (Tensor& t : values) {
      for (const ir::Write& w : graph_.writes) {
        if (inputs[static_cast<size_t>(w.input)].impl()->storage() == t.impl()->storage()) t = t.clone();
      }
    }
    auto at = values.begin();
    RunOutputs out;
    for (size_t i = 0; i < graph_.outputs.size(); ++i) out.outputs.push_back(*at++);
    for (const ir::Write& w : graph_.writes) inputs[static_cast<size_t>(w.input)].copy_(*at++);
    out.grads.assign(at, values.end());
    return out;
  }

 private:
  ir::Graph graph_;
};

}  // namespace

std::shared_ptr<const Executable> compile_graph(const ir::Graph& graph, const CompileOptions&, report::CompileReport*) {
  return std::make_shared<InterpretedGraph>(graph);
}

}  // namespace fuselet
