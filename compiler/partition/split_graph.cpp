#include "compiler/partition/split_graph.h"

#include <algorithm>

#include "compiler/partition/recompute_table.h"

namespace fuselet::partition {
namespace {

size_t at(int32_t i) { return static_cast<size_t>(i); }

// One side, built from copies of the joint graph's nodes.
class Side {
 public:
  Side(const ir::Graph& joint, const std::string& suffix) : joint_(joint), place_(joint.values.size(), -1) {
    graph_.name = joint.name + suffix;
    graph_.draws = joint.draws;
  }

  ir::Graph& graph() { return graph_; }
  bool has(ir::ValueId v) const { return place_[at(v)] >= 0; }
  ir::ValueId place(ir::ValueId v) const {
    FUSELET_INTERNAL_CHECK(has(v), concat("partition: %", v, " is missing in '", graph_.name, "'"));
    return place_[at(v)];
  }
  void add_input(ir::ValueId v, ir::InputKind kind, const std::string& name) {
    TensorMeta meta = joint_.meta(v);
    moved_.resize(graph_.values.size() + 1, 0);
    moved_.back() = meta.offset.concrete();
    meta.offset = 0;
    place_[at(v)] = graph_.add_input(kind, name, std::move(meta));
  }
  // `cell` gives the number of a cell on this side.
  template <class F>
  void add_node(const ir::Node& node, F&& cell) {
    std::vector<ir::GraphArg> args = node.args;
    for (ir::GraphArg& arg : args) {
      if (auto* v = std::get_if<ir::ValueRef>(&arg)) v->id = place(v->id);
      if (auto* c = std::get_if<ir::CellRef>(&arg)) c->index = cell(c->index);
      if (auto* list = std::get_if<std::vector<ir::ValueRef>>(&arg)) {
        for (ir::ValueRef& v : *list) v.id = place(v.id);
      }
    }
    std::vector<TensorMeta> metas;
    for (ir::ValueId v : node.outputs) metas.push_back(joint_.meta(v));
    int64_t moved = 0;
    if (op_of(node.op).kind == OpKind::View) {
      moved = moved_[at(std::get<ir::ValueRef>(args[0]).id)];
      metas[0].offset = metas[0].offset - moved;
      if (node.op == OpId::as_strided) args[3] = std::get<SymInt>(args[3]) - moved;
      FUSELET_INTERNAL_CHECK(metas[0].offset.concrete() >= 0,
                             concat("partition: %", node.outputs[0], " lies in front of the view that is saved"));
    }
    ir::Node copy = node;
    copy.args = std::move(args);
    copy.outputs.clear();
    for (size_t i = 0; i < metas.size(); ++i) {
      ir::ValueId id = static_cast<ir::ValueId>(graph_.values.size());
      graph_.values.push_back({metas[i], static_cast<int32_t>(graph_.nodes.size()), static_cast<int32_t>(i)});
      moved_.resize(graph_.values.size(), 0);
      moved_.back() = moved;
      copy.outputs.push_back(id);
      place_[at(node.outputs[i])] = id;
    }
    graph_.nodes.push_back(std::move(copy));
  }
  void forget(ir::ValueId v) { place_[at(v)] = -1; }
  void mark_draws() {
    int32_t next = 0;
    bool in_order = true;
    for (const ir::Node& n : graph_.nodes) {
      if (n.draw >= 0) in_order = n.draw == next++ && in_order;
    }
    graph_.draws_of_whole = !in_order || next != graph_.draws;
  }

 private:
  const ir::Graph& joint_;
  ir::Graph graph_;
  std::vector<ir::ValueId> place_;  // of each value of the joint graph
  // Of each value here: how far its memory begins behind where the joint graph's does. A view that is saved is an input
  // that begins with its own first element.
  std::vector<int64_t> moved_;
};

std::string name_of_value(const ir::Graph& g, ir::ValueId v) {
  return std::string(op_of(g.nodes[at(g.values[at(v)].node)].op).name) + "." + std::to_string(v);
}

// What the forward runs: what it needs for itself, and what the saved values come from.
std::vector<bool> forward_nodes(const ir::Graph& g, const Sides& sides, const CutChoice& choice) {
  std::vector<bool> nodes = sides.forward_needs, live = choice.save;
  for (size_t n = g.nodes.size(); n-- > 0;) {
    const ir::Node& node = g.nodes[n];
    nodes[n] =
        nodes[n] || std::any_of(node.outputs.begin(), node.outputs.end(), [&](ir::ValueId v) { return live[at(v)]; });
    if (nodes[n]) for_each_operand(node, [&](ir::ValueId v) { live[at(v)] = true; });
  }
  return nodes;
}

ir::Graph build_forward(const ir::Graph& g, const Sides& sides, const CutChoice& choice, size_t num_forward_outputs,
                        std::vector<SavedValue>* saved) {
  Side side(g, " forward");
  side.graph().cells = g.cells;
  std::vector<int32_t> input_place(g.inputs.size(), -1);
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    if (g.inputs[i].kind == ir::InputKind::Tangent) continue;
    input_place[i] = static_cast<int32_t>(side.graph().inputs.size());
    side.add_input(g.inputs[i].value, g.inputs[i].kind, g.inputs[i].name);
  }
  std::vector<bool> runs = forward_nodes(g, sides, choice);
  size_t next = 0;
  for (size_t n = 0; n <= g.nodes.size(); ++n) {
    for (; next < g.advances.size() && at(g.advances[next].before_node) <= n; ++next) {
      ir::Advance a = g.advances[next];
      a.before_node = static_cast<int32_t>(side.graph().nodes.size());
      side.graph().advances.push_back(a);
    }
    if (n < g.nodes.size() && runs[n]) side.add_node(g.nodes[n], [](int32_t c) { return c; });
  }
  std::vector<ir::ValueId>& outputs = side.graph().outputs;
  for (size_t i = 0; i < num_forward_outputs; ++i) outputs.push_back(side.place(g.outputs[i]));
  for (SavedValue& s : *saved) {
    if (s.input >= 0) continue;
    ir::ValueId v = side.place(s.value);
    auto same = std::find(outputs.begin(), outputs.end(), v);
    s.output = static_cast<int32_t>(same - outputs.begin());
    if (same == outputs.end()) outputs.push_back(v);
  }
  for (const ir::Write& w : g.writes) side.graph().writes.push_back({input_place[at(w.input)], side.place(w.value)});
  side.mark_draws();
  return std::move(side.graph());
}

// Gives a cell of the joint graph, as node n reads it, its number in the backward.
class ScalarTable {
 public:
  ScalarTable(const ir::Graph& joint, ir::Graph* backward, std::vector<SavedScalar>* scalars)
      : joint_(joint), backward_(backward), scalars_(scalars) {}

  int32_t number_of(int32_t cell, size_t n) {
    SavedScalar wanted{cell, {}};
    for (const ir::Advance& a : joint_.advances) {
      if (a.cell.index == cell && at(a.before_node) <= n) wanted.advances.push_back(a.by);
    }
    for (size_t i = 0; i < scalars_->size(); ++i) {
      if ((*scalars_)[i].cell == cell && (*scalars_)[i].advances == wanted.advances) return static_cast<int32_t>(i);
    }
    scalars_->push_back(std::move(wanted));
    backward_->cells.push_back(joint_.cells[at(cell)]);
    return static_cast<int32_t>(scalars_->size() - 1);
  }

 private:
  const ir::Graph& joint_;
  ir::Graph* backward_;
  std::vector<SavedScalar>* scalars_;
};

// Adds the nodes of the backward, and before each what it reads and the backward recomputes.
class BackwardBuilder {
 public:
  BackwardBuilder(const ir::Graph& joint, const Sides& sides, int32_t keep_for, Partition* out)
      : joint_(joint),
        keep_for_(keep_for),
        side_(joint, " backward"),
        scalars_(joint, &side_.graph(), &out->scalars),
        runs_(joint.nodes.size(), 0) {
    for (const SavedValue& s : out->saved) {
      ir::InputKind kind = s.input >= 0 ? joint.inputs[at(s.input)].kind : ir::InputKind::Argument;
      side_.add_input(s.value, kind, s.name);
    }
    for (const ir::Input& in : joint.inputs) {
      if (in.kind == ir::InputKind::Tangent) side_.add_input(in.value, in.kind, in.name);
    }
    for (size_t n = 0; n < joint.nodes.size(); ++n) {
      if (sides.backward_nodes[n]) order_.push_back(n);
    }
  }

  // False if the backward grows too large.
  bool build(size_t num_forward_outputs) {
    std::vector<std::vector<int32_t>> readers = readers_by_value();
    for (size_t i = 0; i < order_.size(); ++i) {
      if (side_.graph().nodes.size() > kMostGrowth * joint_.nodes.size()) return false;
      for_each_operand(joint_.nodes[order_[i]], [&](ir::ValueId v) { obtain(v); });
      add(order_[i]);
      if (keep_for_ != kKeepAll) give_up(readers, static_cast<int32_t>(i));
    }
    for (size_t i = num_forward_outputs; i < joint_.outputs.size(); ++i) {
      obtain(joint_.outputs[i]);
      side_.graph().outputs.push_back(side_.place(joint_.outputs[i]));
    }
    side_.mark_draws();
    return true;
  }
  ir::Graph take() { return std::move(side_.graph()); }
  const std::vector<int32_t>& runs() const { return runs_; }

 private:
  void add(size_t n) {
    ++runs_[n];
    side_.add_node(joint_.nodes[n], [&](int32_t cell) { return scalars_.number_of(cell, n); });
  }

  // Adds what makes `v`, operands first.
  void obtain(ir::ValueId wanted) {
    std::vector<ir::ValueId> stack = {wanted};
    while (!stack.empty()) {
      ir::ValueId v = stack.back();
      if (side_.has(v)) {
        stack.pop_back();
        continue;
      }
      int32_t n = joint_.values[at(v)].node;
      FUSELET_INTERNAL_CHECK(n >= 0, concat("partition: input %", v, " was not saved"));
      size_t before = stack.size();
      for_each_operand(joint_.nodes[at(n)], [&](ir::ValueId operand) {
        if (!side_.has(operand)) stack.push_back(operand);
      });
      if (stack.size() > before) continue;
      add(at(n));
      for (ir::ValueId made : joint_.nodes[at(n)].outputs) recomputed_.push_back(made);
      stack.pop_back();
    }
  }

  // For each value, the places in `order_` of the nodes that read it, last first.
  std::vector<std::vector<int32_t>> readers_by_value() const {
    std::vector<std::vector<int32_t>> readers(joint_.values.size());
    for (size_t i = order_.size(); i-- > 0;) {
      for_each_operand(joint_.nodes[order_[i]],
                       [&](ir::ValueId v) { readers[at(v)].push_back(static_cast<int32_t>(i)); });
    }
    return readers;
  }

  void give_up(std::vector<std::vector<int32_t>>& readers, int32_t now) {
    std::vector<ir::ValueId> kept;
    for (ir::ValueId v : recomputed_) {
      std::vector<int32_t>& next = readers[at(v)];
      while (!next.empty() && next.back() <= now) next.pop_back();
      if (!next.empty() && next.back() - now <= keep_for_) {
        kept.push_back(v);
      } else {
        side_.forget(v);
      }
    }
    recomputed_ = std::move(kept);
  }

  const ir::Graph& joint_;
  int32_t keep_for_;
  Side side_;
  ScalarTable scalars_;
  std::vector<size_t> order_;  // the nodes that depend on tangents
  std::vector<int32_t> runs_;
  std::vector<ir::ValueId> recomputed_;  // that the backward has now
};

}  // namespace

std::vector<int32_t> split_graph(const ir::Graph& g, const Sides& sides, const CutChoice& choice,
                                 size_t num_forward_outputs, int32_t keep_for, Partition* out) {
  out->num_forward_outputs = num_forward_outputs;
  for (size_t v = 0; v < g.values.size(); ++v) {
    if (!choice.save[v]) continue;
    int32_t input = sides.input_of[v];
    SavedValue s;
    s.value = static_cast<ir::ValueId>(v);
    s.name = input >= 0 ? g.inputs[at(input)].name : name_of_value(g, s.value);
    bool alive_anyway = input >= 0 && !sides.overwritten[at(input)];
    if (alive_anyway) s.input = input;
    s.bytes = alive_anyway ? 0 : bytes_of(g.meta(s.value));
    out->saved_bytes += s.bytes;
    out->saved.push_back(std::move(s));
  }
  out->forward = build_forward(g, sides, choice, num_forward_outputs, &out->saved);
  BackwardBuilder builder(g, sides, keep_for, out);
  if (!builder.build(num_forward_outputs)) return {};
  out->backward = builder.take();
  return builder.runs();
}

}  // namespace fuselet::partition
