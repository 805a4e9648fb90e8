// The fuse stage: which primitives share a loop nest, and which nests share a kernel.
//
// Nodes first. Every primitive that a loop can compute starts as a group of its own; pairs of groups that exchange or
// share a value merge, the pair that saves most memory traffic first, as long as nothing between them would have to run
// in their middle and the union lowers to one nest (compiler/lower/nest_builder.h). So vertical, sibling, multi-output
// and reduction fusion are one rule. A pair that does not merge leaves a refusal with its reason.
//
// Then nests. Independent nests of one form become one stage (an optimizer over all its parameters); a small nest that
// feeds or follows another becomes a stage of the same kernel (a sum over the rows' results).
//
// Primitives without a loop rule (products, convolutions, scatters) stay calls of their backend's kernel. A pointwise
// nest over a product's result runs on each part of it as the part is finished, while it lies in cache.
#pragma once
#include <string>
#include <vector>

#include "compiler/lower/nest_builder.h"

namespace fuselet::fuse {

struct Group {
  std::vector<int32_t> nodes;       // in order
  std::vector<ir::ValueId> stored;  // what other groups, calls or the caller read
  lower::BuiltNest nest;
};

struct FusedKernel {
  int32_t call = -1;                         // a node on whose result it runs, part by part, as the result is finished
  std::vector<std::vector<int32_t>> stages;  // of groups
};

struct FusionRefusal {
  int32_t first, second;  // a node of each group
  int64_t bytes;          // that merging would have saved
  std::string reason;
};

struct Fusion {
  std::vector<Group> groups;
  std::vector<FusedKernel> kernels;
  std::vector<int32_t> calls;  // nodes that run as calls of their backend's kernel
  std::vector<FusionRefusal> refusals;
  int64_t bytes_unfused = 0, bytes_fused = 0;  // read and written, by every primitive alone and by the kernels
};

// Whether the backend can run a kernel on each part of the node's result that is finished.
using TakesPostWork = bool (*)(const ir::Graph&, const ir::Node&);

Fusion fuse(const lower::GraphFacts& facts, TakesPostWork takes_post_work = nullptr);

// Kernels with their stages and nodes, calls, and refusals, one a line.
std::string print(const Fusion& fusion, const lower::GraphFacts& facts);

}  // namespace fuselet::fuse
