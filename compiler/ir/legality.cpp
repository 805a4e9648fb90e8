#include "compiler/ir/legality.h"

#include <algorithm>

#include "core/decomposition.h"

namespace fuselet::ir {
namespace {

using Reason = std::string;  // empty: no objection

const TensorMeta* tensor_at(const Graph& g, const Node& node, size_t i) {
  auto* v = std::get_if<ValueRef>(&node.args[i]);
  return v ? &g.meta(v->id) : nullptr;
}

bool is_half(DType t) { return t == DType::Float16 || t == DType::BFloat16; }

bool is_none(const Node& node, size_t i) { return std::holds_alternative<std::monostate>(node.args[i]); }

bool is_calculated(DType t) { return t == DType::Float32 || t == DType::Float64 || t == DType::Int64; }

Reason must_be_primitive(const Graph&, const Node& node) {
  const Op& op = op_of(node.op);
  if (op.composite) return "a composite operator";
  return decomposition_of(op) ? "an operator that has a decomposition" : "";
}

// All tensors from argument `first` on have one dtype that kernels calculate in.
Reason must_calculate_in_one_dtype(const Graph& g, const Node& node, size_t first, bool bools_allowed) {
  const TensorMeta* seen = nullptr;
  for (size_t i = first; i < node.args.size(); ++i) {
    const TensorMeta* t = tensor_at(g, node, i);
    if (!t) continue;
    if (!is_calculated(t->dtype) && !(bools_allowed && t->dtype == DType::Bool))
      return concat("an operand of dtype ", name_of(t->dtype));
    if (seen && seen->dtype != t->dtype)
      return concat("operands of dtypes ", name_of(seen->dtype), " and ", name_of(t->dtype));
    seen = t;
  }
  return "";
}

Reason pointwise(const Graph& g, const Node& node) {
  const Op& op = op_of(node.op);
  if (node.op == OpId::cast && tensor_at(g, node, 0)->dtype == g.meta(node.outputs[0]).dtype)
    return "a cast to the same dtype";
  if (op.promotion == Promotion::None) return "";
  for (size_t i = 0; i < static_cast<size_t>(op.promote_from); ++i) {
    if (tensor_at(g, node, i)->dtype != DType::Bool) return "a condition that is not bool";
  }
  if (op.promotion != Promotion::Bool && !is_calculated(g.meta(node.outputs[0]).dtype))
    return concat("a result of dtype ", name_of(g.meta(node.outputs[0]).dtype));
  return must_calculate_in_one_dtype(g, node, static_cast<size_t>(op.promote_from), op.promotion == Promotion::Bool);
}

Reason reduction(const Graph& g, const Node& node) {
  if (node.op == OpId::sum && !is_none(node, 3)) return "a sum with a dtype of its own";
  return must_calculate_in_one_dtype(g, node, 0, false);
}

Reason contraction(const Graph& g, const Node& node) {
  if (node.op == OpId::conv2d && !is_none(node, 2)) return "a convolution with a bias";
  // Products take 16-bit factors as they are: their sums are float32 anyway.
  if (node.op == OpId::matmul_wide || (node.op == OpId::matmul && is_half(tensor_at(g, node, 0)->dtype))) return "";
  return must_calculate_in_one_dtype(g, node, 0, false);
}

Reason must_index_by_int64(const Graph& g, const Node& node, size_t index) {
  return tensor_at(g, node, index)->dtype == DType::Int64 ? "" : "an index that is not int64";
}

Reason gather_or_scatter(const Graph& g, const Node& node) {
  switch (node.op) {
    case OpId::gather:
    case OpId::scatter:
    case OpId::index_copy:
      return must_index_by_int64(g, node, 2);
    case OpId::scatter_add:
    case OpId::index_add:
    case OpId::scatter_fold:
      if (!is_calculated(tensor_at(g, node, 0)->dtype)) return "sums of a dtype that kernels do not calculate in";
      return must_index_by_int64(g, node, 2);
    case OpId::as_strided_grad:
      return must_calculate_in_one_dtype(g, node, 0, false);
    default:
      return "";
  }
}

Reason join(const Graph& g, const Node& node) {
  for (ValueRef part : std::get<std::vector<ValueRef>>(node.args[0])) {
    if (g.meta(part.id).dtype != g.meta(node.outputs[0]).dtype) return "parts of several dtypes";
  }
  return "";
}

Reason source(const Graph&, const Node& node) {
  const Op& op = op_of(node.op);
  for (size_t i = 0; i < node.args.size(); ++i) {
    bool told = op.args[i].type == ArgType::DType || op.args[i].type == ArgType::Device;
    if (told && is_none(node, i)) return concat("no ", op.args[i].name);
  }
  if (node.op == OpId::arange && !is_none(node, 1)) return "a count that does not begin at 0";
  return "";
}

Reason view(const Graph& g, const Node& node) {
  if (node.op == OpId::as_strided) return "";
  if (same_sizes(g.meta(node.outputs[0]).sizes, tensor_at(g, node, 0)->sizes) && node.op != OpId::permute)
    return "a view that changes nothing";
  for (const GraphArg& arg : node.args) {
    auto* dims = std::get_if<Dims>(&arg);
    if (dims && std::any_of(dims->begin(), dims->end(), [](SymInt d) { return d < 0; })) return "a negative number";
    if (std::holds_alternative<std::monostate>(arg)) return "a bound that is not written out";
  }
  return "";
}

// By kind of operator, what a primitive must be like besides.
Reason must_be_explicit(const Graph& g, const Node& node) {
  switch (op_of(node.op).kind) {
    case OpKind::Pointwise:
      return pointwise(g, node);
    case OpKind::Reduction:
      return reduction(g, node);
    case OpKind::Scan:
      return must_calculate_in_one_dtype(g, node, 0, false);
    case OpKind::Contraction:
      return contraction(g, node);
    case OpKind::Gather:
    case OpKind::Scatter:
      return gather_or_scatter(g, node);
    case OpKind::Join:
      return join(g, node);
    case OpKind::Factory:
    case OpKind::Random:
      return source(g, node);
    case OpKind::View:
      return view(g, node);
    default:
      return "an operator of a kind that has no primitives";
  }
}

}  // namespace

std::vector<bool> values_in_use(const Graph& g) {
  std::vector<bool> used(g.values.size(), false);
  auto mark = [&](ValueId v) { used[static_cast<size_t>(v)] = true; };
  for (const Node& node : g.nodes) for_each_operand(node, mark);
  for (ValueId v : g.outputs) mark(v);
  for (const Write& w : g.writes) mark(w.value);
  for (const Write& w : g.grads) mark(w.value);
  return used;
}

const char* name_of(Stage stage) {
  constexpr const char* kNames[] = {"trace", "decompose", "passes", "partition"};
  return kNames[static_cast<int>(stage)];
}

std::string why_illegal(const Graph& graph, const Node& node, Stage stage) {
  if (stage == Stage::Trace) return op_of(node.op).composite ? "a composite operator" : "";
  Reason reason = must_be_primitive(graph, node);
  return reason.empty() ? must_be_explicit(graph, node) : reason;
}

void verify(const Graph& graph, Stage stage) {
  verify(graph);
  std::vector<bool> used = values_in_use(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    std::string reason = why_illegal(graph, node, stage);
    bool read = node.draw >= 0 || std::any_of(node.outputs.begin(), node.outputs.end(),
                                              [&](ValueId v) { return used[static_cast<size_t>(v)]; });
    if (reason.empty() && stage >= Stage::Passes && !read) reason = "a value that nobody reads";
    FUSELET_INTERNAL_CHECK(reason.empty(), concat("graph '", graph.name, "' after ", name_of(stage), ", node ", n, " (",
                                                  op_of(node.op).name, "): ", reason));
  }
}

}  // namespace fuselet::ir
