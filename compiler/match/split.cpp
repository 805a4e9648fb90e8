#include "compiler/match/split.h"

#include <algorithm>

namespace fuselet::match {
namespace {

using ir::Graph;
using ir::ValueId;

// A part of `from` as a graph of its own.
class Extract {
 public:
  explicit Extract(const Graph& from, const char* suffix) : from_(from), renamed_(from.values.size(), -1) {
    to_.name = from.name + suffix;
    to_.cells = from.cells;
  }
  void add_input(const std::string& name, ir::InputKind kind, ValueId v) {
    renamed_[static_cast<size_t>(v)] = to_.add_input(kind, name, from_.meta(v));
  }
  void add_node(size_t index) {
    const ir::Node& node = from_.nodes[index];
    std::vector<ir::GraphArg> args = node.args;
    for (ir::GraphArg& arg : args) {
      if (auto* v = std::get_if<ir::ValueRef>(&arg)) v->id = (*this)[v->id];
      if (auto* list = std::get_if<std::vector<ir::ValueRef>>(&arg)) {
        for (ir::ValueRef& v : *list) v.id = (*this)[v.id];
      }
    }
    std::vector<TensorMeta> metas;
    for (ValueId v : node.outputs) metas.push_back(from_.meta(v));
    const ir::Node& made = to_.add_node(node.op, std::move(args), std::move(metas), node.origin, node.draw);
    if (node.draw >= 0) ++to_.draws;
    for (size_t i = 0; i < node.outputs.size(); ++i) renamed_[static_cast<size_t>(node.outputs[i])] = made.outputs[i];
  }
  ValueId operator[](ValueId v) const { return renamed_[static_cast<size_t>(v)]; }
  Graph& graph() { return to_; }

 private:
  const Graph& from_;
  Graph to_;
  std::vector<ValueId> renamed_;
};

bool is_view(const ir::Node& node) { return op_of(node.op).kind == OpKind::View; }

}  // namespace

SplitGraph split_backward(const Graph& joint, size_t num_forward, size_t first_tangent,
                          const std::vector<ValueId>& gradients) {
  // What the backward runs, and what it takes, by walking back from the gradients.
  std::vector<char> runs(joint.nodes.size(), 0), wanted(joint.values.size(), 0);
  for (ValueId v : gradients) wanted[static_cast<size_t>(v)] = 1;
  for (size_t n = joint.nodes.size(); n-- > 0;) {
    const ir::Node& node = joint.nodes[n];
    bool needed = std::any_of(node.outputs.begin(), node.outputs.end(),
                              [&](ValueId v) { return wanted[static_cast<size_t>(v)] != 0; });
    if (!needed || (n < num_forward && !is_view(node))) continue;
    runs[n] = 1;
    for_each_operand(node, [&](ValueId v) { wanted[static_cast<size_t>(v)] = 1; });
  }
  SplitGraph split;
  Extract forward(joint, ""), backward(joint, "_backward");
  std::vector<ValueId> saved_outputs;
  auto is_written = [&](size_t input) {
    return std::any_of(joint.writes.begin(), joint.writes.end(),
                       [&](const ir::Write& w) { return static_cast<size_t>(w.input) == input; });
  };
  auto save_output = [&](ValueId v) {
    auto output = std::find(joint.outputs.begin(), joint.outputs.end(), v);
    if (output == joint.outputs.end()) saved_outputs.push_back(v);
    size_t index = output == joint.outputs.end() ? joint.outputs.size() + saved_outputs.size() - 1
                                                 : static_cast<size_t>(output - joint.outputs.begin());
    split.saved.push_back({false, index});
  };
  for (size_t i = 0; i < first_tangent; ++i) {
    ValueId v = joint.inputs[i].value;
    forward.add_input(joint.inputs[i].name, joint.inputs[i].kind, v);
    if (!wanted[static_cast<size_t>(v)]) continue;
    backward.add_input(joint.inputs[i].name, ir::InputKind::Argument, v);
    if (is_written(i)) {
      save_output(v);
    } else {
      split.saved.push_back({true, i});
    }
  }
  for (size_t n = 0; n < num_forward; ++n) {
    forward.add_node(n);
    if (runs[n]) continue;
    for (ValueId v : joint.nodes[n].outputs) {
      if (!wanted[static_cast<size_t>(v)]) continue;
      backward.add_input("s" + std::to_string(split.saved.size()), ir::InputKind::Argument, v);
      save_output(v);
    }
  }
  for (size_t i = first_tangent; i < joint.inputs.size(); ++i)
    backward.add_input(joint.inputs[i].name, ir::InputKind::Argument, joint.inputs[i].value);
  for (size_t n = 0; n < joint.nodes.size(); ++n) {
    if (runs[n]) backward.add_node(n);
  }
  for (ValueId v : joint.outputs) forward.graph().outputs.push_back(forward[v]);
  for (ValueId v : saved_outputs) forward.graph().outputs.push_back(forward[v]);
  for (const ir::Write& w : joint.writes) forward.graph().writes.push_back({w.input, forward[w.value]});
  for (ValueId v : gradients) backward.graph().outputs.push_back(backward[v]);
  split.forward = std::move(forward.graph());
  split.backward = std::move(backward.graph());
  return split;
}

}  // namespace fuselet::match
