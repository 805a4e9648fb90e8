#include "compiler/trace/rerecord.h"

#include <algorithm>
#include <numeric>

#include "compiler/ir/escaping_values.h"
#include "compiler/ir/node_call.h"
#include "core/ops/functions.h"

namespace fuselet::trace {
namespace {

Dims without_ones(DimsView sizes) {
  Dims out;
  for (SymInt n : sizes) {
    if (n != 1) out.push_back(n);
  }
  return out;
}

// True iff the strides of the node's first operand decide whether it can be computed, or what it gives.
bool reads_strides(const ir::Graph& g, const ir::Node& node) {
  if (node.op == OpId::as_strided || node.op == OpId::as_strided_scatter) return true;
  if (node.op != OpId::view) return false;
  const Dims &from = g.meta(std::get<ir::ValueRef>(node.args[0]).id).sizes, &to = g.meta(node.outputs[0]).sizes;
  return !same_sizes(without_ones(from), without_ones(to));
}

std::vector<bool> where_layout_matters(const ir::Graph& g) {
  std::vector<bool> matters(g.values.size(), false);
  auto mark = [&](ir::ValueId v) { matters[static_cast<size_t>(v)] = true; };
  std::for_each(g.outputs.begin(), g.outputs.end(), mark);
  for (const ir::Write& w : g.writes) mark(w.value);
  for (const ir::Write& w : g.grads) mark(w.value);
  for (auto node = g.nodes.rbegin(); node != g.nodes.rend(); ++node) {
    bool view_of_such = op_of(node->op).kind == OpKind::View && matters[static_cast<size_t>(node->outputs[0])];
    if (view_of_such || reads_strides(g, *node)) mark(std::get<ir::ValueRef>(node->args[0]).id);
  }
  return matters;
}

// Sizes of 1 and empty tensors have no strides to speak of.
bool same_layout(DimsView sizes, DimsView a, DimsView b) {
  if (numel_of(sizes) == 0) return true;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1 && a[d] != b[d]) return false;
  }
  return true;
}

bool shares_memory(const Tensor& t, const std::vector<Tensor>& earlier) {
  return std::any_of(earlier.begin(), earlier.end(),
                     [&](const Tensor& x) { return x.defined() && x.impl()->storage() == t.impl()->storage(); });
}

// A copy whose dimensions lie in memory in the order that dense `strides` say.
Tensor copy_with_strides(const Tensor& t, DimsView strides) {
  if (is_contiguous(t.sizes(), strides)) return t.clone(true);
  std::vector<size_t> order(strides.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  Dims outermost_first, back(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    outermost_first.push_back(static_cast<int64_t>(order[i]));
    back[order[i]] = static_cast<int64_t>(i);
  }
  return t.permute(outermost_first).clone(true).permute(back);
}

}  // namespace

Rerecording::Rerecording(const ir::Graph& from)
    : from_(from),
      recorder_(from.name),
      values_(from.values.size()),
      layout_matters_(where_layout_matters(from)),
      escaping_(ir::escaping_values(from)) {
  for (const ir::Input& in : from.inputs) {
    values_[static_cast<size_t>(in.value)] = recorder_.add_input(in.kind, in.name, from.meta(in.value));
  }
  for (const std::string& name : from.cells) {
    cells_.push_back(make_intrusive<HostCell>(0.0, name));
    recorder_.add_cell(cells_.back());
  }
}

bool Rerecording::run(const NodeRule& rule) {
  NoGradGuard no_grad;
  LayerGuard outside_match(Layer::Match, false), no_autocast(Layer::Autocast, false);
  RecordingScope scope(recorder_);
  bool changed = false;
  for (size_t n = 0; n < from_.nodes.size(); ++n) {
    advance_before(n);
    record_node(from_.nodes[n], rule, &changed);
  }
  advance_before(from_.nodes.size());
  finish();
  return changed;
}

void Rerecording::record_node(const ir::Node& node, const NodeRule& rule, bool* changed) {
  origin_ = node.origin;
  recorder_.set_origin(&origin_);
  Device on = node.outputs.empty() ? dispatch_state().default_device : from_.meta(node.outputs[0]).device;
  StateGuard<Device> device(&DispatchState::default_device, on);
  ir::NodeCall call(node, values_, &cells_);
  if (rule(*this, node, call.get())) {
    *changed = true;
  } else {
    dispatch_below(Layer::Functionalise, call.get());
    recorder_.graph().nodes.back().boundary = node.boundary;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    ir::ValueId old = node.outputs[i];
    Tensor t = call.outputs()[i];
    const TensorMeta& meta = from_.meta(old);
    FUSELET_INTERNAL_CHECK(
        same_sizes(t.sizes(), meta.sizes) && t.dtype() == meta.dtype,
        concat("graph '", from_.name, "': what replaces ", op_of(node.op).name, " gives ", name_of(t.dtype()),
               to_string(t.sizes()), " instead of ", name_of(meta.dtype), to_string(meta.sizes)));
    bool is_view = op_of(node.op).kind == OpKind::View;
    if (!is_view && layout_matters(old) &&
        (t.impl()->offset() != 0 || !same_layout(meta.sizes, t.strides(), meta.strides))) {
      t = copy_with_strides(t, meta.strides);
    } else if (!is_view && escaping_[static_cast<size_t>(old)] && shares_memory(t, values_)) {
      t = t.clone();
    }
    values_[static_cast<size_t>(old)] = t;
  }
}

Tensor Rerecording::again(const ir::Node& node, const std::function<Tensor(ir::ValueId)>& operand) {
  ir::unite(origin_, node.origin);
  std::vector<Tensor> values(from_.values.size());
  for_each_operand(node, [&](ir::ValueId v) { values[static_cast<size_t>(v)] = operand(v); });
  ir::NodeCall call(node, values, nullptr);
  dispatch_below(Layer::Functionalise, call.get());
  recorder_.graph().nodes.back().boundary = node.boundary;
  return call.outputs()[0];
}

void Rerecording::advance_before(size_t n) {
  for (; next_advance_ < from_.advances.size() && static_cast<size_t>(from_.advances[next_advance_].before_node) <= n;
       ++next_advance_) {
    const ir::Advance& a = from_.advances[next_advance_];
    recorder_.record_advance(*cells_[static_cast<size_t>(a.cell.index)], a.by);
  }
}

void Rerecording::finish() {
  auto value = [&](ir::ValueId v) { return recorder_.value_of(now(v)); };
  ir::Graph& g = recorder_.graph();
  for (ir::ValueId v : from_.outputs) g.outputs.push_back(value(v));
  for (const ir::Write& w : from_.writes) g.writes.push_back({w.input, value(w.value)});
  for (const ir::Write& w : from_.grads) g.grads.push_back({w.input, value(w.value)});
  ir::number_in_order(g);
}

ir::Graph rerecord(const ir::Graph& graph, const NodeRule& rule, bool* changed) {
  Rerecording rerecording(graph);
  *changed = rerecording.run(rule);
  return rerecording.take();
}

}  // namespace fuselet::trace
