#include "compiler/report/draw_graph.h"

#include <algorithm>

#include "compiler/ir/text.h"
#include "compiler/partition/joint_analysis.h"
#include "core/error.h"

namespace fuselet::report {
namespace {

size_t at(int32_t i) { return static_cast<size_t>(i); }

Role role_of(ir::InputKind kind) {
  switch (kind) {
    case ir::InputKind::Argument:
      return Role::Argument;
    case ir::InputKind::Lifted:
      return Role::Parameter;
    case ir::InputKind::Tangent:
      return Role::Tangent;
  }
  return Role::Argument;
}

std::string value_text(ir::ValueId v) { return "%" + std::to_string(v); }

class GraphDrawer {
 public:
  explicit GraphDrawer(const ir::Graph& graph) : graph_(graph), box_of_(graph.values.size(), -1) {
    drawing_.title = graph.name;
    for (const ir::Input& in : graph.inputs) {
      std::string name = in.kind == ir::InputKind::Lifted ? in.name : concat(ir::name_of(in.kind), " ", in.name);
      std::string type = ir::type_text(graph.meta(in.value));
      box_of_[at(in.value)] = add({name, type, concat(value_text(in.value), ": ", type), role_of(in.kind)});
    }
    for (const ir::Node& node : graph.nodes) add_node(node);
    for (size_t i = 0; i < graph.outputs.size(); ++i) add_sink("output " + std::to_string(i), graph.outputs[i]);
    for (const ir::Write& w : graph.writes) add_sink("write " + graph.inputs[at(w.input)].name, w.value);
    for (const ir::Write& w : graph.grads) add_sink("grad " + graph.inputs[at(w.input)].name, w.value);
  }

  Box& node_box(size_t n) { return drawing_.boxes[graph_.inputs.size() + n]; }
  Box& value_box(ir::ValueId v) { return drawing_.boxes[at(box_of_[at(v)])]; }
  int32_t box_of(ir::ValueId v) const { return box_of_[at(v)]; }
  Drawing& drawing() { return drawing_; }

 private:
  int32_t add(Box box) {
    drawing_.boxes.push_back(std::move(box));
    return static_cast<int32_t>(drawing_.boxes.size() - 1);
  }
  void connect(ir::ValueId from, int32_t to) {
    Arrow arrow{box_of_[at(from)], to};
    bool known = std::any_of(drawing_.arrows.rbegin(), drawing_.arrows.rend(),
                             [&](const Arrow& a) { return a.from == arrow.from && a.to == arrow.to; });
    if (!known) drawing_.arrows.push_back(arrow);
  }
  void add_node(const ir::Node& node) {
    Box box{op_of(node.op).name, "", ir::node_text(graph_, node)};
    if (!node.outputs.empty())
      box.note = value_text(node.outputs[0]) + " " + ir::type_text(graph_.meta(node.outputs[0]));
    if (node.outputs.size() > 1) box.note += " +" + std::to_string(node.outputs.size() - 1);
    if (node.origin.backward) box.role = Role::Backward;
    int32_t here = add(std::move(box));
    for (ir::ValueId v : node.outputs) box_of_[at(v)] = here;
    for_each_operand(node, [&](ir::ValueId v) { connect(v, here); });
  }
  void add_sink(const std::string& label, ir::ValueId value) {
    connect(value, add({label, "", label + " " + value_text(value), Role::Output}));
  }

  const ir::Graph& graph_;
  Drawing drawing_;
  std::vector<int32_t> box_of_;  // of each value
};

}  // namespace

Drawing draw_graph(const ir::Graph& graph, std::span<const KernelGroup> groups) {
  GraphDrawer drawer(graph);
  for (const KernelGroup& group : groups) {
    for (int32_t n : group.nodes) drawer.node_box(at(n)).group = static_cast<int32_t>(drawer.drawing().groups.size());
    drawer.drawing().groups.push_back(group.name);
  }
  return std::move(drawer.drawing());
}

Drawing draw_cut(const ir::Graph& joint, const Partition& p) {
  GraphDrawer drawer(joint);
  partition::Sides sides = partition::sides_of(joint, p.num_forward_outputs);
  std::vector<bool> in_backward(drawer.drawing().boxes.size(), false), saved(in_backward);
  for (size_t n = 0; n < joint.nodes.size(); ++n) {
    if (joint.nodes[n].outputs.empty()) continue;
    Box& box = drawer.node_box(n);
    bool backward = sides.after_tangent[at(joint.nodes[n].outputs[0])];
    box.role = backward ? Role::Backward : Role::Forward;
    in_backward[at(drawer.box_of(joint.nodes[n].outputs[0]))] = backward;
  }
  for (int32_t n : p.moved) {
    drawer.node_box(at(n)).role = Role::Backward;
    in_backward[joint.inputs.size() + at(n)] = true;
  }
  for (const RecomputedNode& r : p.recomputed) {
    drawer.node_box(at(r.node)).role = Role::Recomputed;
    in_backward[joint.inputs.size() + at(r.node)] = true;
  }
  for (const SavedValue& s : p.saved) {
    if (s.input < 0) drawer.value_box(s.value).role = Role::Saved;
    saved[at(drawer.box_of(s.value))] = true;
    in_backward[at(drawer.box_of(s.value))] = false;
  }
  for (Arrow& a : drawer.drawing().arrows) a.saved = saved[at(a.from)] && in_backward[at(a.to)];
  drawer.drawing().title =
      concat(joint.name, ": ", p.saved_bytes, " bytes saved, ", p.recomputed.size(), " nodes recomputed");
  return std::move(drawer.drawing());
}

}  // namespace fuselet::report
