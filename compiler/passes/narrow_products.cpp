#include "compiler/passes/narrow_products.h"

#include <optional>

#include "compiler/passes/inspect_nodes.h"
#include "compiler/trace/rerecord.h"
#include "core/ops/functions.h"

namespace fuselet {
namespace {

bool is_half(DType t) { return t == DType::Float16 || t == DType::BFloat16; }

// The dtype of the 16-bit value that argument `arg` is a float32 copy of.
std::optional<DType> narrow_dtype(const ir::Graph& g, const ir::Node& node, size_t arg) {
  const ir::Node* maker = maker_of(g, node, arg);
  if (!maker || g.meta(maker->outputs[0]).dtype != DType::Float32) return std::nullopt;
  switch (maker->op) {
    case OpId::cast: {
      const DType from = g.meta(value_at(*maker, 0)).dtype;
      return is_half(from) ? std::optional(from) : std::nullopt;
    }
    case OpId::permute:
    case OpId::expand:
    case OpId::slice:
      return narrow_dtype(g, *maker, 0);
    default:
      return std::nullopt;
  }
}

// That value, under the same views. Entry: narrow_dtype() gives a dtype.
Tensor narrow_factor(trace::Rerecording& recording, const ir::Node& node, size_t arg) {
  const ir::Node& maker = *maker_of(recording.from(), node, arg);
  if (maker.op == OpId::cast) return recording.now(value_at(maker, 0));
  const Tensor inner = narrow_factor(recording, maker, 0);
  return recording.again(maker, [&](ir::ValueId) { return inner; });
}

// Of a product of two such factors, their dtype.
std::optional<DType> narrow_product(const ir::Graph& g, const ir::Node& node) {
  if (node.op != OpId::matmul) return std::nullopt;
  const std::optional<DType> a = narrow_dtype(g, node, 0), b = narrow_dtype(g, node, 1);
  return a == b ? a : std::nullopt;
}

Tensor multiply(trace::Rerecording& recording, OpId op, const ir::Node& product) {
  const Tensor a = narrow_factor(recording, product, 0), b = narrow_factor(recording, product, 1);
  Arg args[] = {Arg(a), Arg(b)};
  return call_operator(op_of(op), args, false, Location::current())[0];
}

// The product that a cast rounds to the dtype of its factors, if nobody else reads it.
const ir::Node* rounded_product(const ir::Graph& g, const ir::Node& node, const std::vector<int>& readers) {
  if (node.op != OpId::cast) return nullptr;
  const ir::Node* product = maker_of(g, node, 0);
  if (!product || readers[static_cast<size_t>(value_at(node, 0))] != 1) return nullptr;
  return narrow_product(g, *product) == g.meta(node.outputs[0]).dtype ? product : nullptr;
}

}  // namespace

bool narrow_products(ir::Graph& graph) {
  const std::vector<int> readers = count_readers(graph);
  std::vector<bool> is_rounded(graph.values.size(), false);
  for (const ir::Node& node : graph.nodes) {
    if (rounded_product(graph, node, readers)) is_rounded[static_cast<size_t>(value_at(node, 0))] = true;
  }
  bool changed = false;
  graph = trace::rerecord(
      graph,
      [&](trace::Rerecording& recording, const ir::Node& node, Call& call) {
        const ir::Graph& g = recording.from();
        if (const ir::Node* product = rounded_product(g, node, readers)) {
          call.outs[0] = multiply(recording, OpId::matmul, *product);
          return true;
        }
        if (!narrow_product(g, node)) return false;
        const auto result = static_cast<size_t>(node.outputs[0]);
        if (is_rounded[result] || readers[result] == 0) return false;
        call.outs[0] = multiply(recording, OpId::matmul_wide, node);
        return true;
      },
      &changed);
  return changed;
}

}  // namespace fuselet
