#include "compiler/fuse/take_post_work.h"

#include <algorithm>

namespace fuselet::fuse {
namespace {

using kernel::Kind;
using kernel::Nest;
using kernel::Statement;

// Cuts the one dim of a flat nest into rows of `columns`.
void cut_rows(Nest& nest, int64_t columns) {
  nest.dims = {nest.dims[0] / columns, columns};
  for (Statement& s : nest.body) {
    if (!s.access.strides.empty()) s.access.strides.insert(s.access.strides.begin(), s.access.strides[0] * columns);
    s.varies = (s.varies & 1) * 3;
  }
}

// The nest as a Tile over the result's rows and columns; false, and nothing changed, where it is none.
bool make_tile(const lower::GraphFacts& facts, lower::BuiltNest& built, ir::ValueId result) {
  const TensorMeta& meta = facts.meta(result);
  const int64_t columns = meta.sizes.back().concrete(), elements = numel_of(meta.sizes).concrete();
  Nest nest = built.nest;
  if (nest.structure != kernel::Structure::Pointwise || elements == 0) return false;
  if (nest.dims.size() == 1 && nest.dims[0] == elements) cut_rows(nest, columns);
  if (nest.dims.size() != 2 || nest.dims[1] != columns || nest.dims[0] * columns != elements) return false;
  for (const Statement& s : nest.body) {
    const bool reads = s.access.buffer >= 0 && built.buffers[static_cast<size_t>(s.access.buffer)] == result;
    if (!reads) continue;
    const bool row_by_row = nest.dims[0] == 1 || s.access.strides[0] == columns;
    const bool one_by_one = nest.dims[1] == 1 || s.access.strides[1] == 1;
    if (s.kind != Kind::Load || s.access.offset != 0 || !row_by_row || !one_by_one) return false;
  }
  nest.structure = kernel::Structure::Tile;
  built.nest = std::move(nest);
  return true;
}

bool reads(const lower::BuiltNest& built, ir::ValueId v) {
  return std::find(built.buffers.begin(), built.buffers.end(), v) != built.buffers.end();
}

}  // namespace

std::vector<FusedKernel> take_post_work(GroupGraph& groups, const lower::GraphFacts& facts, TakesPostWork takes,
                                        Fusion* fusion, std::map<int32_t, int32_t>* index) {
  std::vector<FusedKernel> out;
  if (!takes) return out;
  std::erase_if(fusion->calls, [&](int32_t call) {
    const ir::Node& node = facts.graph.nodes[static_cast<size_t>(call)];
    if (!takes(facts.graph, node)) return false;
    for (const auto& [g, place] : *index) {
      lower::BuiltNest& built = fusion->groups[static_cast<size_t>(place)].nest;
      if (!reads(built, node.outputs[0]) || groups.is_separated(call, g)) continue;
      if (!make_tile(facts, built, node.outputs[0])) continue;
      out.push_back({call, {{place}}});
      groups.merge(call, g);
      index->erase(g);
      return true;
    }
    return false;
  });
  return out;
}

}  // namespace fuselet::fuse
