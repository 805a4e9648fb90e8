#include "compiler/joint/joint_graph.h"

#include <algorithm>
#include <unordered_set>

#include "autograd/engine.h"
#include "compiler/ir/node_call.h"

namespace fuselet {
namespace {

bool same_edge(const Edge& a, const Edge& b) { return a.node == b.node && a.index == b.index && a.leaf == b.leaf; }

// Where the tape of the recording ends: leaves and nodes from before, each once, in the order of a walk.
std::vector<Edge> boundary_of(const std::vector<Edge>& roots, uint64_t tape_start) {
  std::vector<Edge> found;
  std::unordered_set<const GradNode*> seen;
  std::vector<Edge> stack(roots.rbegin(), roots.rend());
  while (!stack.empty()) {
    Edge edge = std::move(stack.back());
    stack.pop_back();
    if (edge.node && edge.node->sequence > tape_start) {
      if (seen.insert(edge.node.get()).second)
        stack.insert(stack.end(), edge.node->edges.rbegin(), edge.node->edges.rend());
      continue;
    }
    bool from_outside = edge.node || (edge.leaf && !edge.leaf->is_deferred());
    bool known = std::any_of(found.begin(), found.end(), [&](const Edge& e) { return same_edge(e, edge); });
    if (from_outside && !known) found.push_back(std::move(edge));
  }
  return found;
}

// While it lives, the tape ends at these edges: nothing behind them is walked, and no hook on them runs.
class TapeEnd {
 public:
  explicit TapeEnd(const std::vector<Edge>& boundary) {
    for (const Edge& e : boundary) {
      bool known = std::any_of(nodes_.begin(), nodes_.end(), [&](const CutNode& c) { return c.node == e.node; });
      if (e.node && !known)
        nodes_.push_back({e.node, std::exchange(e.node->edges, {}), std::exchange(e.node->hooks, {})});
      if (e.leaf && e.leaf->autograd()) leaves_.emplace_back(e.leaf, std::exchange(e.leaf->autograd()->hooks, nullptr));
    }
  }
  ~TapeEnd() {
    for (CutNode& c : nodes_) {
      c.node->edges = std::move(c.edges);
      c.node->hooks = std::move(c.hooks);
    }
    for (auto& [leaf, hooks] : leaves_) leaf->autograd()->hooks = std::move(hooks);
  }
  TapeEnd(const TapeEnd&) = delete;

 private:
  struct CutNode {
    GradNodePtr node;
    std::vector<Edge> edges;
    decltype(GradNode::hooks) hooks;
  };
  std::vector<CutNode> nodes_;
  std::vector<std::pair<TensorImplPtr, std::shared_ptr<HookList>>> leaves_;
};

// A tensor whose gradient is what arrives at the edge.
Tensor standing_at(const Edge& edge) {
  if (edge.leaf) return Tensor(edge.leaf);
  Tensor t = ir::stand_in({});
  set_history(t, edge.node, edge.index);
  return t;
}

TensorMeta tangent_meta(const Tensor& output) {
  TensorMeta m;
  m.sizes = Dims(output.sizes());
  m.strides = strides_like(output.sizes(), output.sizes(), output.strides());
  m.dtype = output.dtype();
  m.device = output.device();
  return m;
}

int32_t input_at(trace::Recorder& recorder, const Edge& edge) {
  const std::vector<Tensor>& lifted = recorder.lifted();
  for (size_t i = 0; i < lifted.size(); ++i) {
    if (lifted[i].defined() && same_edge(gradient_edge(lifted[i]), edge)) return static_cast<int32_t>(i);
  }
  return edge.leaf ? recorder.input_of(Tensor(edge.leaf)) : -1;
}

void record_backward(trace::Recorder& recorder, std::span<const Tensor> outputs, JointGraph* joint) {
  std::vector<Tensor> roots, tangents;
  std::vector<Edge> edges;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Edge edge = gradient_edge(outputs[i]);
    if (!edge.exists()) continue;
    edges.push_back(std::move(edge));
    roots.push_back(outputs[i]);
    tangents.push_back(recorder.add_input(ir::InputKind::Tangent, std::to_string(i), tangent_meta(outputs[i])));
    joint->tangents.push_back(static_cast<int32_t>(i));
  }
  if (roots.empty()) return;
  for (Edge& edge : boundary_of(edges, recorder.tape_start())) {
    int32_t input = input_at(recorder, edge);
    joint->gradients.push_back({std::move(edge), input});
  }
  std::stable_sort(
      joint->gradients.begin(), joint->gradients.end(), [](const JointGradient& a, const JointGradient& b) {
        return static_cast<uint32_t>(a.input) < static_cast<uint32_t>(b.input);  // those without an input last
      });
  std::vector<Tensor> wanted;
  std::vector<Edge> boundary;
  for (const JointGradient& g : joint->gradients) {
    boundary.push_back(g.edge);
    wanted.push_back(standing_at(g.edge));
  }
  TapeEnd end(boundary);
  std::vector<Tensor> grads = grad(roots, wanted, tangents, {}, true);
  std::vector<JointGradient> given;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) continue;
    recorder.graph().outputs.push_back(recorder.value_of(grads[i]));
    given.push_back(joint->gradients[i]);
  }
  joint->gradients = std::move(given);
}

}  // namespace

JointGraph make_joint(trace::Recorder& recorder, std::span<const Tensor> outputs) {
  ir::Graph& g = recorder.graph();
  FUSELET_INTERNAL_CHECK(g.outputs.empty(), concat("joint graph of '", g.name, "': the recording has outputs already"));
  JointGraph joint;
  joint.num_forward_outputs = outputs.size();
  trace::RecordingScope scope(recorder);
  recorder.check_cells();
  for (const Tensor& t : outputs) g.outputs.push_back(recorder.value_of(t));
  record_backward(recorder, outputs, &joint);
  for (trace::AliasGroup* group : recorder.groups()) {
    if (group->input >= 0 && group->written) g.writes.push_back({group->input, group->value});
  }
  ir::number_in_order(g);
  ir::verify(g);
  joint.graph = std::move(g);
  return joint;
}

}  // namespace fuselet
