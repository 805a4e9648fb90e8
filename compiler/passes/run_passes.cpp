#include "compiler/passes/run_passes.h"

#include "compiler/passes/eliminate_dead_code.h"
#include "compiler/passes/fold_casts.h"
#include "compiler/passes/fold_constants.h"
#include "compiler/passes/forward_identities.h"
#include "compiler/passes/merge_common_subexpressions.h"
#include "compiler/passes/simplify_algebra.h"
#include "compiler/passes/simplify_views.h"

namespace fuselet {
namespace {

constexpr Pass kPasses[] = {
    // First, for what decomposing leaves: copies and dead results would hide patterns and count as readers.
    {"forward_identities", forward_identities},
    {"eliminate_dead_code", eliminate_dead_code},
    // Before algebra, which looks for numbers.
    {"fold_constants", fold_constants},
    // Before algebra, which looks through negations but not through casts.
    {"fold_casts", fold_casts},
    {"simplify_algebra", simplify_algebra},
    // After what removes readers: a view moves above an operator only if nobody else reads it.
    {"merge_common_subexpressions", merge_common_subexpressions},
    {"eliminate_dead_code", eliminate_dead_code},
    {"simplify_views", simplify_views},
};

// Each round removes or moves something towards the inputs; a graph that takes more rounds is in a loop.
constexpr int kMostRounds = 100;

}  // namespace

std::span<const Pass> cleaning_passes() { return kPasses; }

void run_passes(ir::Graph& graph, const PassObserver& observer) {
  bool changed = true;
  for (int round = 0; changed; ++round) {
    FUSELET_INTERNAL_CHECK(round < kMostRounds, concat("graph '", graph.name, "': the passes come to no end"));
    changed = false;
    for (const Pass& pass : kPasses) {
      bool did = pass.run(graph);
      changed |= did;
      if (observer) observer(pass.name, graph, did);
    }
  }
}

}  // namespace fuselet
