// The cleaning passes between decompose and partition, in their order, until none of them changes anything.
//
// Entry: a graph of primitives (ir::Stage::Decompose). Exit: the same values bit for bit, legal after
// ir::Stage::Passes.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "compiler/ir/graph.h"

namespace fuselet {

struct Pass {
  const char* name;
  bool (*run)(ir::Graph&);  // true: it changed something
};
std::span<const Pass> cleaning_passes();

// Called after each pass, with what it left. Timing, dumps and verification are the caller's.
using PassObserver = std::function<void(std::string_view pass, const ir::Graph&, bool changed)>;
void run_passes(ir::Graph& graph, const PassObserver& observer = {});

}  // namespace fuselet
