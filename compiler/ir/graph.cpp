#include "compiler/ir/graph.h"

#include <algorithm>

namespace fuselet::ir {

const char* name_of(InputKind kind) {
  switch (kind) {
    case InputKind::Argument:
      return "argument";
    case InputKind::Lifted:
      return "lifted";
    case InputKind::Tangent:
      return "tangent";
  }
  return "";
}

void unite(Origin& into, const Origin& other) {
  for (int32_t id : other.operators) {
    if (std::find(into.operators.begin(), into.operators.end(), id) == into.operators.end())
      into.operators.push_back(id);
  }
  std::sort(into.operators.begin(), into.operators.end());
  into.backward = into.backward && other.backward;
}

ValueId Graph::add_input(InputKind kind, std::string input_name, TensorMeta meta) {
  ValueId id = static_cast<ValueId>(values.size());
  values.push_back({std::move(meta), -1, static_cast<int32_t>(inputs.size())});
  inputs.push_back({id, kind, std::move(input_name)});
  return id;
}

const Node& Graph::add_node(OpId op, std::vector<GraphArg> args, std::vector<TensorMeta> metas, Origin origin,
                            int32_t draw) {
  Node node{op, std::move(args), {}, std::move(origin), draw, false};
  for (size_t i = 0; i < metas.size(); ++i) {
    node.outputs.push_back(static_cast<ValueId>(values.size()));
    values.push_back({std::move(metas[i]), static_cast<int32_t>(nodes.size()), static_cast<int32_t>(i)});
  }
  nodes.push_back(std::move(node));
  return nodes.back();
}

Device device_of(const Graph& graph) {
  // What is computed decides: inputs may be numbers of the host, or be read by nobody.
  for (const Value& v : graph.values) {
    if (v.meta.device.type != DeviceType::CPU && (v.node >= 0 || graph.nodes.empty())) return v.meta.device;
  }
  return {};
}

std::vector<ValueId> number_in_order(Graph& g) {
  std::vector<ValueId> renamed(g.values.size(), -1);
  std::vector<Value> values;
  auto move_over = [&](ValueId& v) {
    renamed[static_cast<size_t>(v)] = static_cast<ValueId>(values.size());
    values.push_back(std::move(g.values[static_cast<size_t>(v)]));
    v = renamed[static_cast<size_t>(v)];
  };
  for (Input& in : g.inputs) move_over(in.value);
  for (Node& node : g.nodes) {
    for (GraphArg& arg : node.args) {
      if (auto* v = std::get_if<ValueRef>(&arg)) v->id = renamed[static_cast<size_t>(v->id)];
      if (auto* list = std::get_if<std::vector<ValueRef>>(&arg)) {
        for (ValueRef& v : *list) v.id = renamed[static_cast<size_t>(v.id)];
      }
    }
    for (ValueId& v : node.outputs) move_over(v);
  }
  for (ValueId& v : g.outputs) v = renamed[static_cast<size_t>(v)];
  for (std::vector<Write>* list : {&g.writes, &g.grads}) {
    for (Write& w : *list) w.value = renamed[static_cast<size_t>(w.value)];
  }
  g.values = std::move(values);
  return renamed;
}

}  // namespace fuselet::ir
