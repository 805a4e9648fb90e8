// Pointwise nests in which an operand lies along another dim than the last: both dims in blocks, and the operand's
// block turned, so that every cache line of either side is used whole.
#include <algorithm>

#include "backends/cpu/codegen/row_loops.h"
#include "backends/cpu/codegen/structures.h"

namespace fuselet::cpu::codegen {

using kernel::Kind;
using kernel::Nest;
using kernel::Statement;

namespace {

// Fewer neighbours than these are not worth a block.
constexpr int64_t kFewestNeighbours = 8;

bool crosses(const Nest& nest, const Statement& s, size_t dim) {
  const auto& strides = s.access.strides;
  return (s.kind == Kind::Load || s.kind == Kind::Store) && strides[dim] == 1 && strides.back() > 1 &&
         (s.varies >> (nest.dims.size() - 1) & 1);
}

int64_t blocks(int64_t n) { return (n + kBlockSide - 1) / kBlockSide; }

}  // namespace

std::optional<size_t> crossing_dim(const Nest& nest) {
  if (nest.dims.back() < kFewestNeighbours) return std::nullopt;
  std::optional<size_t> found;
  for (size_t d = 0; d + 1 < nest.dims.size(); ++d) {
    if (nest.dims[d] < kFewestNeighbours || (found && nest.dims[*found] >= nest.dims[d])) continue;
    if (std::any_of(nest.body.begin(), nest.body.end(), [&](const Statement& s) { return crosses(nest, s, d); }))
      found = d;
  }
  return found;
}

std::vector<Phase> write_crossing(NestWriter& w, const std::string& name, size_t dim) {
  RowLoops loops(w, false);
  std::vector<int> staged;
  for (int i = 0; i < w.count(); ++i) {
    if (!crosses(w.nest(), w.at(i), dim)) continue;
    staged.push_back(i);
    w.stage(i, dim);
  }
  auto of_dim = [dim](const PlacedNest& n) { return blocks(n.nest->dims[dim]); };
  auto of_last = [](const PlacedNest& n) { return blocks(n.nest->dims.back()); };
  const std::string p = "p" + std::to_string(dim), n = w.dim(w.last()), side = std::to_string(kBlockSide);
  const std::string down = w.group().number(of_dim), across = w.group().number(of_last);

  w.begin_function(name, loops.of_rows());
  for (int i : staged) {
    w.line("alignas(64) " + std::string(stored_type(w.at(i).dtype)) + " block_" + std::to_string(i) +
           "[kBlockSide * kBlockSide];");
  }
  w.open("for (long tile = begin; tile < end; ++tile)");
  w.line("const long from = tile % " + across + " * " + side + ", stop = least(from + " + side + ", " + n + ");");
  w.line("const long first_row = tile / " + across + " % " + down + " * " + side + ";");
  w.line("const long end_row = least(first_row + " + side + ", " + w.dim(dim) + ");");
  w.line("[[maybe_unused]] const long outer = tile / " + across + " / " + down + ";");
  w.unravel("outer", w.last(), dim);
  auto copy = [&](const char* function, bool stores) {
    for (int i : staged) {
      if ((w.at(i).kind == Kind::Store) != stores) continue;
      const std::string number = std::to_string(i);
      const std::string stride = w.group().number(
          [i](const PlacedNest& nest) { return nest.nest->body[static_cast<size_t>(i)].access.strides.back(); });
      w.line(std::string(function) + "(block_" + number + ", b_" + number + " + " + w.offset(i, 0, w.last(), dim) +
             " + first_row + from * " + stride + ", " + stride + ", stop - from, end_row - first_row);");
    }
  };
  copy("read_block", false);
  w.open("for (long " + p + " = first_row; " + p + " < end_row; ++" + p + ")");
  loops.begin_row();
  for (int pass = 0; pass < static_cast<int>(loops.passes().passes.size()); ++pass)
    loops.pass(pass, "from", "stop", false);
  w.close();
  copy("write_block", true);
  w.close();
  w.close();

  Phase phase{name, {}, static_cast<double>(kBlockSide * kBlockSide) * w.cost()};
  for (const PlacedNest& nest : w.group().nests()) {
    int64_t outer = 1;
    for (size_t d = 0; d < w.last(); ++d) outer *= d == dim ? 1 : nest.nest->dims[d];
    phase.tiles.push_back(outer * of_dim(nest) * of_last(nest));
  }
  return {phase};
}

}  // namespace fuselet::cpu::codegen
