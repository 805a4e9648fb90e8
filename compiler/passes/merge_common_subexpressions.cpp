#include "compiler/passes/merge_common_subexpressions.h"

#include <algorithm>
#include <map>

#include "compiler/ir/escaping_values.h"
#include "compiler/ir/text.h"
#include "compiler/passes/rewrite.h"

namespace fuselet {
namespace {

// Equal keys: equal values. A cell counts its advances, so that reads before and after one differ.
std::string key_of(const ir::Node& node, const Rewrite& rewrite, const std::vector<int>& advances) {
  std::string key = std::to_string(static_cast<int>(node.op));
  for (ir::GraphArg arg : node.args) {
    if (auto* v = std::get_if<ir::ValueRef>(&arg)) v->id = rewrite.resolve(v->id);
    if (auto* list = std::get_if<std::vector<ir::ValueRef>>(&arg)) {
      for (ir::ValueRef& v : *list) v.id = rewrite.resolve(v.id);
    }
    key += '|' + std::to_string(arg.index()) + ir::arg_text(arg);
    if (auto* c = std::get_if<ir::CellRef>(&arg)) key += '@' + std::to_string(advances[static_cast<size_t>(c->index)]);
    // The text of a number does not tell an integer 1 from a true 1; the category does. -0.0 and 0.0 print apart.
    if (auto* s = std::get_if<Scalar>(&arg)) key += ':' + std::to_string(static_cast<int>(s->category()));
  }
  return key;
}

}  // namespace

bool merge_common_subexpressions(ir::Graph& g) {
  Rewrite rewrite(g);
  std::vector<bool> escaping = ir::escaping_values(g);
  std::map<std::string, size_t> seen;
  std::vector<int> advances(g.cells.size(), 0);
  size_t next_advance = 0;
  bool changed = false;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    for (; next_advance < g.advances.size() && static_cast<size_t>(g.advances[next_advance].before_node) <= n;
         ++next_advance) {
      ++advances[static_cast<size_t>(g.advances[next_advance].cell.index)];
    }
    ir::Node& node = g.nodes[n];
    // What `empty` holds is nobody's promise, but two of them are two.
    if (node.draw >= 0 || node.op == OpId::empty) continue;
    auto [slot, fresh] = seen.try_emplace(key_of(node, rewrite, advances), n);
    if (fresh) continue;
    ir::Node& first = g.nodes[slot->second];
    // Two results are two tensors, which their owner may write apart.
    auto escapes = [&](const ir::Node& n) {
      return std::any_of(n.outputs.begin(), n.outputs.end(),
                         [&](ir::ValueId v) { return escaping[static_cast<size_t>(v)]; });
    };
    if (escapes(first) && escapes(node)) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      rewrite.replacement[static_cast<size_t>(node.outputs[i])] = first.outputs[i];
    }
    unite(first.origin, node.origin);
    first.boundary = first.boundary && node.boundary;  // a user's cast stays one
    rewrite.keep[n] = false;
    changed = true;
  }
  if (changed) apply(g, rewrite);
  return changed;
}

}  // namespace fuselet
