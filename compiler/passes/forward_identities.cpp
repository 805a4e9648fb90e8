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

// True iff the operand can stand for the copy where strides and offset are read.
bool lies_alike(const Tensor& operand, const TensorMeta& copy) {
  return operand.impl()->offset() == 0 && same_sizes(operand.strides(), copy.strides);
}

}  // namespace

bool forward_identities(ir::Graph& graph) {
  bool changed = false;
  std::vector<bool> escaping = ir::escaping_values(graph);
  graph = trace::rerecord(
      graph,
      [&](trace::Rerecording& recording, const ir::Node& node, Call& call) {
        if (!is_identity(recording.from(), node) || escaping[static_cast<size_t>(node.outputs[0])]) return false;
        const Tensor& operand = recording.now(value_at(node, 0));
        const TensorMeta& copy = recording.from().meta(node.outputs[0]);
        if (recording.layout_matters(node.outputs[0]) && !lies_alike(operand, copy)) return false;
        call.outs[0] = operand;
        return true;
      },
      &changed);
  return changed;
}

}  // namespace fuselet
