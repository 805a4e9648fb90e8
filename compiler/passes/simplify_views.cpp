#include "compiler/passes/simplify_views.h"

#include "compiler/passes/inspect_nodes.h"
#include "compiler/trace/edited_call.h"
#include "compiler/trace/rerecord.h"
#include "core/ops/reduced_dims.h"
#include "core/ops/view_geometry.h"

namespace fuselet {
namespace {

const Dims& dims_at(const ir::Node& node, size_t i) { return std::get<Dims>(node.args[i]); }
SymInt number_of(const ir::Node& node, size_t i) { return std::get<SymInt>(node.args[i]); }

bool is_in_order(DimsView dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// slice(slice(x)) along one dimension: starts and steps of the outer count in steps of the inner.
Tensor slice_of_slice(const Tensor& x, const ir::Node& inner, const ir::Node& outer) {
  if (number_of(inner, 1) != number_of(outer, 1)) return {};
  SymInt step = number_of(inner, 4), start = number_of(inner, 2) + number_of(outer, 2) * step;
  SymInt count = (number_of(outer, 3) - number_of(outer, 2) - 1) / number_of(outer, 4) + 1;
  if (number_of(outer, 3) <= number_of(outer, 2)) return {};
  SymInt together = step * number_of(outer, 4);
  return x.slice(number_of(outer, 1).concrete(), start, start + (count - 1) * together + 1, together);
}

// Two views of a kind as one; nothing if there is none.
Tensor merge_views(const trace::Rerecording& recording, const ir::Node& node) {
  const ir::Node* inner = maker_of(recording.from(), node, 0);
  if (!inner || inner->op != node.op) return {};
  const Tensor& x = recording.now(value_at(*inner, 0));
  const Dims& sizes = recording.from().meta(node.outputs[0]).sizes;
  if (node.op == OpId::view && same_sizes(x.sizes(), sizes)) return x;
  switch (node.op) {
    case OpId::view:
      return view_strides(x.sizes(), x.strides(), sizes) ? x.view(sizes) : Tensor();
    case OpId::expand:
      return x.expand(sizes);
    case OpId::permute: {
      Dims order;
      for (SymInt d : dims_at(node, 1)) order.push_back(dims_at(*inner, 1)[static_cast<size_t>(d.concrete())]);
      return is_in_order(order) ? x : x.permute(order);
    }
    case OpId::slice:
      return slice_of_slice(x, *inner, node);
    default:
      return {};
  }
}

bool changes_nothing(const ir::Graph& g, const ir::Node& node) {
  if (node.op == OpId::permute) return is_in_order(dims_at(node, 1));
  return node.op != OpId::as_strided && same_sizes(g.meta(value_at(node, 0)).sizes, g.meta(node.outputs[0]).sizes);
}

// The view's part of an operand that broadcasts to `rank` dimensions.
Tensor view_of_operand(const ir::Node& view, const Tensor& x, int64_t rank, Call& call) {
  EditedCall edit(call);
  if (view.op == OpId::slice) {
    int64_t d = number_of(view, 1).concrete() - (rank - x.dim());
    if (d < 0 || x.sizes()[static_cast<size_t>(d)] == 1) return x;
    return x.slice(d, number_of(view, 2), number_of(view, 3), number_of(view, 4));
  }
  Dims sizes(static_cast<size_t>(rank - x.dim()), 1);
  for (SymInt n : x.sizes()) sizes.push_back(n);
  edit.set(0, x.dim() == rank ? x : x.view(sizes));
  return edit.run();
}

// The view above the pointwise operator that it views.
Tensor hoist_view(trace::Rerecording& recording, const ir::Node& node, const std::vector<int>& readers, Call& call) {
  const ir::Graph& g = recording.from();
  if (node.op != OpId::slice && node.op != OpId::permute) return {};
  const ir::Node* maker = maker_of(g, node, 0);
  if (!maker || op_of(maker->op).kind != OpKind::Pointwise || maker->op == OpId::clone || reads_cell(*maker)) return {};
  if (readers[static_cast<size_t>(maker->outputs[0])] != 1 || recording.layout_matters(node.outputs[0])) return {};
  if (numel_of(g.meta(node.outputs[0]).sizes) == 0) return {};
  int64_t rank = static_cast<int64_t>(g.meta(maker->outputs[0]).sizes.size());
  return recording.again(*maker, [&](ir::ValueId v) {
    const Tensor& x = recording.now(v);
    return x.dim() == 0 ? x : view_of_operand(node, x, rank, call);
  });
}

// What a reduction keeps as dimensions of size 1, a view drops.
Tensor drop_kept_dims(const trace::Rerecording& recording, const ir::Node& node, const std::vector<int>& readers) {
  const ir::Graph& g = recording.from();
  const ir::Node* maker = node.op == OpId::view ? maker_of(g, node, 0) : nullptr;
  if (!maker || op_of(maker->op).kind != OpKind::Reduction || maker->op == OpId::argmax) return {};
  if (readers[static_cast<size_t>(maker->outputs[0])] != 1 || !std::get<bool>(maker->args[2])) return {};
  const Tensor& x = recording.now(value_at(*maker, 0));
  const Dims& dims = dims_at(*maker, 1);
  DimMask mask = reduced_dims(dims, x.dim(), "view");
  if (!same_sizes(sizes_without(x.sizes(), mask, false), g.meta(node.outputs[0]).sizes)) return {};
  return maker->op == OpId::sum ? x.sum(dims) : maker->op == OpId::amax ? x.amax(dims) : x.amin(dims);
}

// An operand without the expand that broadcasting does as well.
bool read_through_expand(const trace::Rerecording& recording, const ir::Node& node, Call& call) {
  const TensorMeta& meta = recording.from().meta(node.outputs[0]);
  for (size_t i = 0; i < node.args.size(); ++i) {
    const ir::Node* maker = maker_of(recording.from(), node, i);
    if (!maker || maker->op != OpId::expand) continue;
    EditedCall edit(call);
    edit.set(static_cast<int>(i), recording.now(value_at(*maker, 0)));
    if (!same_sizes(edit.meta().sizes, meta.sizes)) continue;
    call.outs[0] = edit.run();
    return true;
  }
  return false;
}

}  // namespace

bool simplify_views(ir::Graph& graph) {
  bool changed = false;
  std::vector<int> readers = count_readers(graph);
  graph = trace::rerecord(
      graph,
      [&](trace::Rerecording& recording, const ir::Node& node, Call& call) {
        if (call.op->kind == OpKind::Pointwise) return read_through_expand(recording, node, call);
        if (call.op->kind != OpKind::View) return false;
        Tensor simpler =
            changes_nothing(recording.from(), node) ? recording.now(value_at(node, 0)) : merge_views(recording, node);
        if (!simpler.defined()) simpler = hoist_view(recording, node, readers, call);
        if (!simpler.defined()) simpler = drop_kept_dims(recording, node, readers);
        if (!simpler.defined()) return false;
        call.outs[0] = simpler;
        return true;
      },
      &changed);
  return changed;
}

}  // namespace fuselet
