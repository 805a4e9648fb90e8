#include "compiler/passes/forward_identities.h"

#include "compiler/passes/rewrite.h"

namespace fuselet {
namespace {

bool is_identity(const ir::Graph& g, const ir::Node& node) {
  if (node.op != OpId::alias && node.op != OpId::clone && node.op != OpId::cast) return false;
  const TensorMeta &from = g.meta(std::get<ir::ValueRef>(node.args[0]).id), &to = g.meta(node.outputs[0]);
  return from.dtype == to.dtype && same_sizes(from.strides, to.strides) && from.device == to.device;
}

}  // namespace

bool forward_identities(ir::Graph& g) {
  std::vector<bool> read(g.values.size(), false), result(g.values.size(), false);
  for (const ir::Node& node : g.nodes)
    for_each_operand(node, [&](ir::ValueId v) { read[static_cast<size_t>(v)] = true; });
  for (ir::ValueId v : g.outputs) result[static_cast<size_t>(v)] = true;
  for (const ir::Write& w : g.writes) result[static_cast<size_t>(w.value)] = true;
  for (const ir::Write& w : g.grads) result[static_cast<size_t>(w.value)] = true;
  Rewrite rewrite(g);
  bool changed = false;
  for (const ir::Node& node : g.nodes) {
    if (!is_identity(g, node)) continue;
    size_t out = static_cast<size_t>(node.outputs[0]);
    if (!read[out] || result[out]) continue;
    rewrite.replacement[out] = std::get<ir::ValueRef>(node.args[0]).id;
    changed = true;
  }
  if (changed) apply(g, rewrite);
  return changed;
}

}  // namespace fuselet
