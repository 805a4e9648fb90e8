#include "compiler/passes/fold_casts.h"

#include "compiler/passes/inspect_nodes.h"
#include "compiler/trace/rerecord.h"
#include "core/ops/functions.h"

namespace fuselet {
namespace {

// The integers that a dtype holds without gaps: to ± 2^bits, from 0 on for uint8.
int whole_bits(DType t) {
  switch (t) {
    case DType::Float64:
      return 53;
    case DType::Float32:
      return 24;
    case DType::Float16:
      return 11;
    case DType::BFloat16:
    case DType::UInt8:
      return 8;
    case DType::Int64:
      return 63;
    case DType::Int32:
      return 31;
    case DType::Int8:
      return 7;
    case DType::Bool:
      return 1;
  }
  return 0;
}

bool holds_all_values(DType to, DType from) {
  if (to == from || from == DType::Bool) return true;
  if (to == DType::Bool) return false;
  if (!is_float(from)) return to != DType::UInt8 && whole_bits(to) >= whole_bits(from);
  if (!is_float(to)) return false;
  return to == DType::Float64 || (to == DType::Float32 && from != DType::Float64);
}

// cast(cast(x, via), to) is cast(x, to) for every x. A float that is cast to an integer saturates where an integer
// wraps around, so a detour over floats does not end in integers.
bool is_one_cast(DType from, DType via, DType to) {
  if (!holds_all_values(via, from)) return false;
  return category_of(from) == category_of(via) || from == DType::Bool || category_of(to) != Category::Int;
}

}  // namespace

bool fold_casts(ir::Graph& graph) {
  bool changed = false;
  graph = trace::rerecord(
      graph,
      [](trace::Rerecording& recording, const ir::Node& node, Call& call) {
        const ir::Graph& g = recording.from();
        if (node.op != OpId::cast) return false;
        const ir::Node* inner = maker_of(g, node, 0);
        if (!inner || inner->op != OpId::cast) return false;
        ir::ValueId x = value_at(*inner, 0);
        DType from = g.meta(x).dtype, via = g.meta(inner->outputs[0]).dtype, to = g.meta(node.outputs[0]).dtype;
        if (!is_one_cast(from, via, to)) return false;
        recording.mark_boundaries(node.boundary);
        call.outs[0] = from == to ? recording.now(x) : recording.now(x).cast(to);
        recording.mark_boundaries(false);
        return true;
      },
      &changed);
  return changed;
}

}  // namespace fuselet
