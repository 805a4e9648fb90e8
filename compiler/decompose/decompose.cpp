#include "compiler/decompose/decompose.h"

#include "compiler/decompose/canonical_sources.h"
#include "compiler/decompose/canonical_views.h"
#include "compiler/decompose/explicit_dtypes.h"
#include "compiler/trace/rerecord.h"
#include "core/decomposition.h"

namespace fuselet {
namespace {

// A pointwise operator of 16-bit numbers rounds once however many operations it is made of, so its dtypes are made
// explicit before it is taken apart; any other decomposition sees to its dtypes itself.
bool decompose_call(Call& call) {
  if (call.op->kind == OpKind::Pointwise && make_dtypes_explicit(call)) return true;
  if (Decomposition decomposition = decomposition_of(*call.op)) {
    decomposition(call);
    return true;
  }
  return make_dtypes_explicit(call) || make_view_canonical(call) || make_source_canonical(call);
}

// Rounding is what the program asks for in a copy into 16 bits, and random numbers are the same however they are
// compiled.
bool rounds_by_itself(const Op& op) {
  bool source = op.kind == OpKind::Factory || op.kind == OpKind::Random;
  return op.id == OpId::copy || (source && !decomposition_of(op));
}

}  // namespace

ir::Graph decompose_once(const ir::Graph& graph, bool* changed) {
  return trace::rerecord(
      graph,
      [](trace::Rerecording& recording, const ir::Node&, Call& call) {
        recording.mark_boundaries(!rounds_by_itself(*call.op));
        bool replaced = decompose_call(call);
        recording.mark_boundaries(false);
        return replaced;
      },
      changed);
}

ir::Graph decompose(const ir::Graph& graph) {
  bool changed = false;
  ir::Graph g = decompose_once(graph, &changed);
  while (changed) g = decompose_once(g, &changed);
  return g;
}

}  // namespace fuselet
