#include "compiler/partition/joint_analysis.h"

#include <algorithm>

#include "compiler/partition/recompute_table.h"

namespace fuselet::partition {
namespace {

size_t at(int32_t i) { return static_cast<size_t>(i); }

bool any_output(const ir::Node& node, const std::vector<bool>& values) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ir::ValueId v) { return values[at(v)]; });
}
bool any_operand(const ir::Node& node, const std::vector<bool>& values) {
  bool any = false;
  for_each_operand(node, [&](ir::ValueId v) { any = any || values[at(v)]; });
  return any;
}

void check_joint(const ir::Graph& g, size_t num_forward_outputs, const std::vector<bool>& after_tangent) {
  FUSELET_INTERNAL_CHECK(num_forward_outputs <= g.outputs.size(),
                         concat("partition of '", g.name, "': more forward outputs than outputs"));
  FUSELET_INTERNAL_CHECK(g.grads.empty(), concat("partition of '", g.name, "': a joint graph sets no .grad"));
  for (size_t i = 0; i < num_forward_outputs; ++i)
    FUSELET_INTERNAL_CHECK(!after_tangent[at(g.outputs[i])],
                           concat("partition of '", g.name, "': forward output ", i, " depends on a tangent"));
  for (const ir::Write& w : g.writes)
    FUSELET_INTERNAL_CHECK(!after_tangent[at(w.value)],
                           concat("partition of '", g.name, "': what is written into input '",
                                  g.inputs[at(w.input)].name, "' depends on a tangent"));
}

// What the forward computes for its own sake.
std::vector<bool> nodes_of_forward(const ir::Graph& g, size_t num_forward_outputs,
                                   const std::vector<bool>& after_tangent) {
  std::vector<bool> live(g.values.size(), false), nodes(g.nodes.size(), false);
  for (size_t i = 0; i < num_forward_outputs; ++i) live[at(g.outputs[i])] = true;
  for (const ir::Write& w : g.writes) live[at(w.value)] = true;
  for (size_t n = g.nodes.size(); n-- > 0;) {
    const ir::Node& node = g.nodes[n];
    nodes[n] = !any_output(node, after_tangent) && (node.draw >= 0 || any_output(node, live));
    if (nodes[n]) for_each_operand(node, [&](ir::ValueId v) { live[at(v)] = true; });
  }
  return nodes;
}

// Longest path of recomputed nodes that end in `node`, it included.
int32_t chain_at(const ir::Graph& g, const ir::Node& node, const std::vector<int32_t>& chains, bool counts) {
  int32_t longest = 0;
  for_each_operand(node, [&](ir::ValueId v) {
    if (g.values[at(v)].node >= 0) longest = std::max(longest, chains[at(g.values[at(v)].node)]);
  });
  return longest + (counts ? 1 : 0);
}

// Why the policy does not recompute a node with this rule; empty: it may.
std::string refusal(const RecomputeRule& rule, Policy policy, int32_t chain) {
  if (rule.when == When::Never) return rule.reason;
  if (rule.when == When::Always) return "";
  if (policy == Policy::SaveAll) return "everything is saved";
  if (policy == Policy::Pressed) return "";
  if (rule.when == When::Pressed) return rule.reason;
  return chain > kLongestChain ? concat("the chain of recomputed nodes is longer than ", kLongestChain) : "";
}

// A view is taken again rather than saved, unless it is a small part of what it is taken of.
bool worth_saving(const ir::Graph& g, const ir::Node& node, ir::ValueId output) {
  if (op_of(node.op).kind != OpKind::View) return true;
  int64_t whole = 0;
  for_each_operand(node, [&](ir::ValueId v) { whole = std::max(whole, bytes_of(g.meta(v))); });
  const TensorMeta& meta = g.meta(output);
  return bytes_of(meta) < whole && is_dense(meta.sizes, meta.strides);
}

}  // namespace

Sides sides_of(const ir::Graph& g, size_t num_forward_outputs) {
  Sides s;
  s.after_tangent.assign(g.values.size(), false);
  s.input_of.assign(g.values.size(), -1);
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    s.input_of[at(g.inputs[i].value)] = static_cast<int32_t>(i);
    s.after_tangent[at(g.inputs[i].value)] = g.inputs[i].kind == ir::InputKind::Tangent;
  }
  for (const ir::Node& node : g.nodes) {
    bool after = any_operand(node, s.after_tangent);
    for (ir::ValueId v : node.outputs) s.after_tangent[at(v)] = after;
  }
  check_joint(g, num_forward_outputs, s.after_tangent);
  s.overwritten.assign(g.inputs.size(), false);
  for (const ir::Write& w : g.writes) s.overwritten[at(w.input)] = true;
  s.forward_needs = nodes_of_forward(g, num_forward_outputs, s.after_tangent);
  s.needed.assign(g.values.size(), false);
  for (size_t i = num_forward_outputs; i < g.outputs.size(); ++i) s.needed[at(g.outputs[i])] = true;
  s.backward_nodes.assign(g.nodes.size(), false);
  for (size_t n = g.nodes.size(); n-- > 0;) {
    s.backward_nodes[n] = any_output(g.nodes[n], s.after_tangent) && any_output(g.nodes[n], s.needed);
    if (s.backward_nodes[n]) for_each_operand(g.nodes[n], [&](ir::ValueId v) { s.needed[at(v)] = true; });
  }
  for (size_t v = 0; v < s.needed.size(); ++v) s.needed[v] = s.needed[v] && !s.after_tangent[v];
  return s;
}

JointProblem joint_problem(const ir::Graph& g, const Sides& sides, Policy policy) {
  JointProblem p;
  p.cut.nodes.resize(g.nodes.size());
  p.cut.values.resize(g.values.size());
  p.costs.resize(g.nodes.size());
  p.reasons.resize(g.nodes.size());
  for (size_t v = 0; v < g.values.size(); ++v) {
    int32_t input = sides.input_of[v];
    bool alive_anyway = input >= 0 && !sides.overwritten[at(input)];
    p.cut.values[v] = {alive_anyway ? 0 : bytes_of(g.values[v].meta), true, sides.needed[v], -1};
  }
  std::vector<int32_t> chains(g.nodes.size(), 0);
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const ir::Node& node = g.nodes[n];
    if (any_output(node, sides.after_tangent)) continue;
    CutProblem::Node& candidate = p.cut.nodes[n];
    for_each_operand(node, [&](ir::ValueId v) { candidate.operands.push_back(v); });
    for (ir::ValueId v : node.outputs) {
      candidate.outputs.push_back(v);
      p.cut.values[at(v)].node = static_cast<int32_t>(n);
      p.cut.values[at(v)].may_save = worth_saving(g, node, v);
    }
    RecomputeRule rule = recompute_rule(g, node);
    int32_t chain = chain_at(g, node, chains, rule.when != When::Always);
    p.reasons[n] = refusal(rule, policy, chain);
    candidate.may_recompute = p.reasons[n].empty();
    chains[n] = candidate.may_recompute ? chain : 0;
    p.costs[n] = rule.cost;
    // What the forward does not need is computed once, on either side.
    candidate.cost = sides.forward_needs[n] ? rule.cost : 0;
  }
  return p;
}

}  // namespace fuselet::partition
