#include "compiler/replay/interpret.h"

#include "compiler/ir/node_call.h"
#include "core/dispatch.h"

namespace fuselet::replay {
namespace {

// For each value, the last node that reads it; values that are wanted at the end are never dropped.
std::vector<size_t> last_readers(const ir::Graph& g, const std::vector<ir::ValueId>& wanted) {
  std::vector<size_t> last(g.values.size(), 0);
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    for_each_operand(g.nodes[n], [&](ir::ValueId v) { last[static_cast<size_t>(v)] = n; });
    for (ir::ValueId v : g.nodes[n].outputs) last[static_cast<size_t>(v)] = n;
  }
  for (ir::ValueId v : wanted) last[static_cast<size_t>(v)] = g.nodes.size();
  return last;
}

void run_node(const ir::Node& node, std::vector<Tensor>& values, const std::vector<CellPtr>& cells,
              GeneratorState base) {
  ir::NodeCall call(node, values, &cells);
  if (node.draw >= 0) {
    ReplayDrawScope draw({base.seed, base.draws + static_cast<uint64_t>(node.draw)});
    dispatch_below(Layer::Trace, call.get());
  } else {
    dispatch_below(Layer::Trace, call.get());
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) values[static_cast<size_t>(node.outputs[i])] = call.outputs()[i];
}

}  // namespace

std::vector<Tensor> interpret(const ir::Graph& g, const std::vector<Tensor>& inputs, const std::vector<CellPtr>& cells,
                              GeneratorState base, const std::vector<ir::ValueId>& wanted) {
  std::vector<Tensor> values(g.values.size());
  for (size_t i = 0; i < g.inputs.size(); ++i) values[static_cast<size_t>(g.inputs[i].value)] = inputs[i];
  std::vector<size_t> last = last_readers(g, wanted);
  size_t next_advance = 0;
  auto advance_before = [&](size_t n) {
    for (; next_advance < g.advances.size() && static_cast<size_t>(g.advances[next_advance].before_node) <= n;
         ++next_advance) {
      const ir::Advance& a = g.advances[next_advance];
      cells[static_cast<size_t>(a.cell.index)]->advance(a.by);
    }
  };
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    advance_before(n);
    run_node(g.nodes[n], values, cells, base);
    auto drop = [&](ir::ValueId v) {
      if (last[static_cast<size_t>(v)] == n) values[static_cast<size_t>(v)] = Tensor();
    };
    for_each_operand(g.nodes[n], drop);
    for (ir::ValueId v : g.nodes[n].outputs) drop(v);
  }
  advance_before(g.nodes.size());
  std::vector<Tensor> out;
  for (ir::ValueId v : wanted) out.push_back(values[static_cast<size_t>(v)]);
  return out;
}

}  // namespace fuselet::replay
