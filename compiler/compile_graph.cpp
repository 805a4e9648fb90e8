#include "compiler/compile_graph.h"

#include "compiler/replay/interpret.h"
#include "core/dispatch_state.h"
#include "core/ops/functions.h"

namespace fuselet {
namespace {

// The same memory counted from the tensor's first element, as strided views of a graph's inputs count.
Tensor from_first_element(const Tensor& t) {
  TensorImpl* i = t.impl();
  if (i->offset() == 0) return t;
  StoragePtr whole = i->storage();
  size_t behind = whole->bytes() - static_cast<size_t>(i->offset().word()) * size_of(i->dtype());
  auto storage = make_intrusive<Storage>(i->data(), behind, i->device(), [whole] {});
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), Dims(i->sizes()), Dims(i->strides()), 0, i->dtype()));
}

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
    std::vector<Tensor> inputs;
    for (const Tensor& t : in.inputs) inputs.push_back(from_first_element(t));
    std::vector<Tensor> values = replay::interpret(graph_, inputs, cells, in.draws, wanted);
    for (Tensor& t : values) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        bool changes = !inputs[i].is_same(in.inputs[i]);
        for (const ir::Write& w : graph_.writes) changes = changes || static_cast<size_t>(w.input) == i;
        if (changes && inputs[i].impl()->storage() == t.impl()->storage()) t = t.clone();
      }
    }
    auto at = values.begin();
    RunOutputs out;
    for (size_t i = 0; i < graph_.outputs.size(); ++i) out.outputs.push_back(*at++);
    for (const ir::Write& w : graph_.writes) Tensor(in.inputs[static_cast<size_t>(w.input)]).copy_(*at++);
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
