// How primitives are computed inside a loop nest: one table, by operator. A pointwise row needs no entry; its formula
// is its rule. A primitive without a rule runs as a call of its backend's kernel.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/coordinate.h"

namespace fuselet::lower {

class NestBuilder;

struct LoopRule {
  // Elementwise: the statement of the node's element at the given coordinates.
  int32_t (*element)(NestBuilder&, const ir::Node&, const Coordinates& at) = nullptr;
  // Reduction: what combines, over dims `reduced` of the first argument.
  bool reduces = false;
  kernel::Combine combine{};
};

// nullptr: no loop computes it.
const LoopRule* loop_rule(const ir::Graph& graph, const ir::Node& node);

// The dims of its first argument that a reduction combines, as a mask.
uint64_t reduced_mask(const ir::Graph& graph, const ir::Node& node);
// The shape that the node iterates over: of its result, or of what it reduces.
std::vector<int64_t> domain_of(const ir::Graph& graph, const ir::Node& node);

}  // namespace fuselet::lower
