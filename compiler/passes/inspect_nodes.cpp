#include "compiler/passes/inspect_nodes.h"

#include <algorithm>

namespace fuselet {

ir::ValueId value_at(const ir::Node& node, size_t arg) {
  auto* v = std::get_if<ir::ValueRef>(&node.args[arg]);
  return v ? v->id : -1;
}

const ir::Node* maker_of(const ir::Graph& graph, const ir::Node& node, size_t arg) {
  ir::ValueId v = value_at(node, arg);
  if (v < 0) return nullptr;
  int32_t maker = graph.values[static_cast<size_t>(v)].node;
  return maker < 0 ? nullptr : &graph.nodes[static_cast<size_t>(maker)];
}

std::optional<Scalar> number_at(const ir::Graph& graph, const ir::Node& node, size_t arg) {
  if (auto* s = std::get_if<Scalar>(&node.args[arg])) return *s;
  const ir::Node* maker = maker_of(graph, node, arg);
  if (!maker || maker->op != OpId::full) return std::nullopt;
  auto* s = std::get_if<Scalar>(&maker->args[1]);
  DType dtype = graph.meta(maker->outputs[0]).dtype;
  bool calculated = dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Int64 || dtype == DType::Bool;
  if (!s || !calculated || s->category() != category_of(dtype)) return std::nullopt;
  return *s;
}

bool reads_cell(const ir::Node& node) {
  return std::any_of(node.args.begin(), node.args.end(),
                     [](const ir::GraphArg& arg) { return std::holds_alternative<ir::CellRef>(arg); });
}

std::vector<int> count_readers(const ir::Graph& graph) {
  std::vector<int> readers(graph.values.size(), 0);
  auto count = [&](ir::ValueId v) { ++readers[static_cast<size_t>(v)]; };
  for (const ir::Node& node : graph.nodes) for_each_operand(node, count);
  for (ir::ValueId v : graph.outputs) count(v);
  for (const ir::Write& w : graph.writes) count(w.value);
  for (const ir::Write& w : graph.grads) count(w.value);
  return readers;
}

}  // namespace fuselet
