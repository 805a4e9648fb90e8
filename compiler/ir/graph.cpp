#include "compiler/ir/graph.h"

namespace fuselet::ir {

ValueId Graph::add_input(InputKind kind, std::string input_name, TensorMeta meta) {
  ValueId id = static_cast<ValueId>(values.size());
  values.push_back({std::move(meta), -1, static_cast<int32_t>(inputs.size())});
  inputs.push_back({id, kind, std::move(input_name)});
  return id;
}

const Node& Graph::add_node(OpId op, std::vector<GraphArg> args, std::vector<TensorMeta> metas, Origin origin, int32_t draw) {
  Node node{op, std::move(args), {}, std::move(origin), draw};
  for (size_t i = 0; i < metas.size(); ++i) {
    node.outputs.push_back(static_cast<ValueId>(values.size()));
    values.push_back({std::move(metas[i]), static_cast<int32_t>(nodes.size()), static_cast<int32_t>(i)});
  }
  nodes.push_back(std::move(node));
  return nodes.back();
}

}  // namespace fuselet::ir
