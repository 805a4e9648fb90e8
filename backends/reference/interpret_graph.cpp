#include "backends/reference/interpret_graph.h"

#include <algorithm>

namespace fuselet::reference {
namespace {

// Gives `t` the memory that the graph's layout says, which operators on explicit strides read.
void lay_out(RefTensor& t, const TensorMeta& meta) {
  t.offset = 0;
  t.strides.clear();
  for (SymInt s : meta.strides) t.strides.push_back(s.concrete());
  t.memory.assign(static_cast<size_t>(span_of(meta.sizes, meta.strides)), 0.0);
  size_t next = 0;
  for_each_index(t.sizes, [&](const Index& index) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * t.strides[d];
    t.memory[static_cast<size_t>(at)] = t.values[next++];
  });
}

struct ArgReader {
  const std::vector<RefTensor>& values;
  const std::vector<double>& cells;

  RefArg operator()(std::monostate) const { return std::monostate{}; }
  RefArg operator()(ir::ValueRef v) const { return values[static_cast<size_t>(v.id)]; }
  RefArg operator()(const std::vector<ir::ValueRef>& list) const {
    std::vector<RefTensor> out;
    for (ir::ValueRef v : list) out.push_back(values[static_cast<size_t>(v.id)]);
    return out;
  }
  RefArg operator()(const Scalar& s) const { return s; }
  RefArg operator()(ir::CellRef c) const { return Scalar(cells[static_cast<size_t>(c.index)]); }
  RefArg operator()(SymInt i) const { return i.concrete(); }
  RefArg operator()(const Dims& d) const {
    std::vector<int64_t> out;
    for (SymInt s : d) out.push_back(s.concrete());
    return out;
  }
  RefArg operator()(double d) const { return d; }
  RefArg operator()(bool b) const { return b; }
  RefArg operator()(const std::string& s) const { return s; }
  RefArg operator()(DType t) const { return t; }
  RefArg operator()(Device d) const { return d; }
};

}  // namespace

GraphResult interpret(const ir::Graph& g, const std::vector<RefTensor>& inputs, std::vector<double> cells,
                      GeneratorState base) {
  std::vector<RefTensor> values(g.values.size());
  auto define = [&](ir::ValueId v, RefTensor t) {
    lay_out(t, g.meta(v));
    values[static_cast<size_t>(v)] = std::move(t);
  };
  for (size_t i = 0; i < g.inputs.size(); ++i) define(g.inputs[i].value, inputs[i]);
  size_t next_advance = 0;
  auto advance_before = [&](size_t n) {
    for (; next_advance < g.advances.size() && static_cast<size_t>(g.advances[next_advance].before_node) <= n;
         ++next_advance) {
      cells[static_cast<size_t>(g.advances[next_advance].cell.index)] += g.advances[next_advance].by;
    }
  };
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    advance_before(n);
    const ir::Node& node = g.nodes[n];
    std::vector<RefArg> args;
    for (const ir::GraphArg& arg : node.args) args.push_back(std::visit(ArgReader{values, cells}, arg));
    GeneratorState draw = {base.seed, base.draws + static_cast<uint64_t>(std::max(node.draw, 0))};
    std::vector<RefTensor> outs = evaluate(op_of(node.op), args, draw);
    FUSELET_INTERNAL_CHECK(outs.size() == node.outputs.size(),
                           concat("the reference of ", op_of(node.op).name, " gives ", outs.size(),
                                  " results, the graph has ", node.outputs.size()));
    for (size_t i = 0; i < outs.size(); ++i) define(node.outputs[i], std::move(outs[i]));
  }
  advance_before(g.nodes.size());
  GraphResult result;
  for (ir::ValueId v : g.outputs) result.outputs.push_back(values[static_cast<size_t>(v)]);
  for (const ir::Write& w : g.writes) result.writes.push_back(values[static_cast<size_t>(w.value)]);
  for (const ir::Write& w : g.grads) result.grads.push_back(values[static_cast<size_t>(w.value)]);
  result.cells = std::move(cells);
  return result;
}

}  // namespace fuselet::reference
