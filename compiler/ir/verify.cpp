#include <algorithm>

#include "compiler/ir/graph.h"
#include "compiler/ir/node_call.h"

namespace fuselet::ir {
namespace {

[[noreturn]] void fail_at(const Graph& g, size_t n, const std::string& what) {
  throw InternalError(concat("graph '", g.name, "', node ", n, " (", op_of(g.nodes[n].op).name, "): ", what), __FILE__,
                      __LINE__);
}

bool fits(const GraphArg& arg, const ArgSpec& spec) {
  if (std::holds_alternative<std::monostate>(arg)) return spec.optional;
  switch (spec.type) {
    case ArgType::Tensor:
      return std::holds_alternative<ValueRef>(arg);
    case ArgType::Operand:
      return std::holds_alternative<ValueRef>(arg) || std::holds_alternative<Scalar>(arg) ||
             std::holds_alternative<CellRef>(arg);
    case ArgType::Tensors:
      return std::holds_alternative<std::vector<ValueRef>>(arg);
    case ArgType::Scalar:
      return std::holds_alternative<Scalar>(arg) || std::holds_alternative<CellRef>(arg);
    case ArgType::Int:
      return std::holds_alternative<SymInt>(arg);
    case ArgType::Ints:
      return std::holds_alternative<Dims>(arg);
    case ArgType::Float:
      return std::holds_alternative<double>(arg);
    case ArgType::Bool:
      return std::holds_alternative<bool>(arg);
    case ArgType::Text:
      return std::holds_alternative<std::string>(arg);
    case ArgType::DType:
      return std::holds_alternative<DType>(arg);
    case ArgType::Device:
      return std::holds_alternative<Device>(arg);
    case ArgType::None:
      break;
  }
  return false;
}

// What the operator's own shape rule says of these operands.
void check_metas(const Graph& g, size_t n) {
  const Node& node = g.nodes[n];
  std::vector<Tensor> stand_ins(g.values.size());
  for_each_operand(node, [&](ValueId v) { stand_ins[static_cast<size_t>(v)] = stand_in(g.meta(v)); });
  NodeCall call(node, stand_ins, nullptr);
  std::vector<TensorMeta> metas(node.outputs.size());
  if (static_cast<size_t>(count_outputs(call.get())) != metas.size())
    fail_at(g, n, concat("has ", metas.size(), " outputs, its row says ", count_outputs(call.get())));
  op_of(node.op).shape(call.get(), metas.data());
  for (size_t i = 0; i < metas.size(); ++i) {
    const TensorMeta& said = g.meta(node.outputs[i]);
    if (!same_sizes(metas[i].sizes, said.sizes) || metas[i].dtype != said.dtype) {
      fail_at(g, n,
              concat("output ", i, " is recorded as ", name_of(said.dtype), to_string(said.sizes),
                     ", its shape rule says ", name_of(metas[i].dtype), to_string(metas[i].sizes)));
    }
  }
}

void check_write(const Graph& g, const Write& w, const char* kind) {
  bool known = w.input >= 0 && static_cast<size_t>(w.input) < g.inputs.size() && w.value >= 0 &&
               static_cast<size_t>(w.value) < g.values.size();
  FUSELET_INTERNAL_CHECK(known,
                         concat("graph '", g.name, "': a ", kind, " names an input or value that does not exist"));
  const TensorMeta &to = g.meta(g.inputs[static_cast<size_t>(w.input)].value), &from = g.meta(w.value);
  FUSELET_INTERNAL_CHECK(same_sizes(to.sizes, from.sizes) && to.dtype == from.dtype,
                         concat("graph '", g.name, "': a ", kind, " of ", name_of(from.dtype), to_string(from.sizes),
                                " into ", name_of(to.dtype), to_string(to.sizes)));
}

}  // namespace

void verify(const Graph& g) {
  size_t defined = g.inputs.size();
  int32_t draws = 0;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    const Op& op = op_of(node.op);
    if (op.composite) fail_at(g, n, "a composite operator never stands in a graph");
    if (node.args.size() != op.args.size())
      fail_at(g, n, concat("has ", node.args.size(), " arguments, its row has ", op.args.size()));
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (!fits(node.args[i], op.args[i])) fail_at(g, n, concat("argument '", op.args[i].name, "' has a wrong kind"));
      if (auto* cell = std::get_if<CellRef>(&node.args[i]);
          cell && (cell->index < 0 || static_cast<size_t>(cell->index) >= g.cells.size())) {
        fail_at(g, n, concat("argument '", op.args[i].name, "' names a cell that does not exist"));
      }
    }
    for_each_operand(node, [&](ValueId v) {
      if (v < 0 || static_cast<size_t>(v) >= defined) fail_at(g, n, concat("uses %", v, " before it is defined"));
    });
    if ((op.kind == OpKind::Random) != (node.draw >= 0))
      fail_at(g, n, "exactly the random operators carry a draw number");
    if (node.draw >= 0) {
      bool follows = g.draws_of_whole ? node.draw < g.draws : node.draw == draws;
      if (!follows) fail_at(g, n, "draw numbers must follow program order without gaps");
      ++draws;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != static_cast<ValueId>(defined + i)) fail_at(g, n, "its outputs are not the next values");
    }
    check_metas(g, n);
    defined += node.outputs.size();
  }
  FUSELET_INTERNAL_CHECK(draws == g.draws || g.draws_of_whole,
                         concat("graph '", g.name, "': ", draws, " draws are used, ", g.draws, " declared"));
  for (ValueId v : g.outputs)
    FUSELET_INTERNAL_CHECK(v >= 0 && static_cast<size_t>(v) < defined,
                           concat("graph '", g.name, "': output %", v, " is not defined"));
  for (const Write& w : g.writes) check_write(g, w, "write");
  for (const Write& w : g.grads) check_write(g, w, "grad");
}

}  // namespace fuselet::ir
