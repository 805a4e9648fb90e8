#include "compiler/passes/forward_identities.h"

#include "compiler/ir/escaping_values.h"
#include "compiler/passes/inspect_nodes.h"
#include "compiler/trace/rerecord.h"

namespace fuselet {
namespace {

bool is_identity(const ir::Graph& g, const ir::Node& node) {
  if (node.op != OpId::alias && node.op != OpId::clone && node.op != OpId::cast) return false;
  return g.meta(value_at(node, 0)).dtype == g.meta(node.outputs[0]).dtype;
}

bool same_strides(const ir::Graph& g, const ir::Node& node) {
  return same_sizes(g.meta(value_at(node, 0)).strides, g.meta(node.outputs[0]).strides);
}

}  // namespace

bool forward_identities(ir::Graph& graph) {
  bool changed = false;
  std::vector<bool> escaping = ir::escaping_values(graph);
  graph = trace::rerecord(
      graph,
      [&](trace::Rerecording& recording, const ir::Node& node, Call& call) {
        if (!is_identity(recording.from(), node) || escaping[static_cast<size_t>(node.outputs[0])]) return false;
        if (recording.layout_matters(node.outputs[0]) && !same_strides(recording.from(), node)) return false;
        call.outs[0] = recording.now(value_at(node, 0));
        return true;
      },
      &changed);
  return changed;
}

}  // namespace fuselet
