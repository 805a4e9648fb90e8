// Pointwise nests: one access of V neighbouring elements a thread, as many blocks as that takes.
#include <numeric>

#include "backends/cuda/codegen/structures.h"

namespace fuselet::cuda::codegen {
namespace {

// Accesses a thread where many nests share a launch: a block's search for its nest is then a small part of its work.
constexpr int kSharedSteps = 8;

}  // namespace

std::vector<int> needed_by(const kernel::Nest& nest, const std::vector<int>& roots) {
  std::vector<bool> wanted(nest.body.size());
  for (int r : roots) wanted[static_cast<size_t>(r)] = true;
  std::vector<int> out;
  for (size_t i = nest.body.size(); i-- > 0;) {
    const kernel::Statement& s = nest.body[i];
    if (!wanted[i] || s.kind == kernel::Kind::Reduce) continue;
    for (int32_t a : s.args) wanted[static_cast<size_t>(a)] = true;
    for (const kernel::IndexedDim& d : s.indices) wanted[static_cast<size_t>(d.statement)] = true;
    out.insert(out.begin(), static_cast<int>(i));
  }
  return out;
}

std::vector<PhaseText> write_pointwise(NestText& t, const NestPlace& place) {
  const kernel::Nest& nest = t.nest();
  const size_t last = t.last();
  const int steps = place.alone ? 1 : kSharedSteps;
  int64_t rows = 1;
  for (size_t d = 0; d < last; ++d) rows *= nest.dims[d];
  const int64_t packs_of_row = (nest.dims[last] + t.lanes() - 1) / t.lanes(), packs = rows * packs_of_row;

  t.line("const Index packs = " + t.number("packs", packs) + ", n = " + t.dim(last) + ";");
  const std::string start = "block * " + std::to_string(kBlockThreads * static_cast<unsigned>(steps)) + " + ";
  if (steps > 1) {
    t.open("for (int step = 0; step < " + std::to_string(steps) + "; ++step)");
    t.line("const Index pack = " + start + "step * " + std::to_string(kBlockThreads) + " + (Index)threadIdx.x;");
    t.line("if (pack >= packs) break;");
  } else {
    t.line("const Index pack = " + start + "(Index)threadIdx.x;");
    t.line("if (pack >= packs) return;");
  }
  std::string first = "pack";
  if (last > 0) {
    t.line("const Index row = " + t.quotient("pack", "packs_of_row", packs_of_row) + ";");
    first = "(pack - row * " + t.number("packs_of_row", packs_of_row) + ")";
    std::vector<size_t> outer(last);
    std::iota(outer.begin(), outer.end(), size_t{0});
    t.unravel("row", outer);
  }
  t.line("const Index first = " + first + (t.lanes() > 1 ? " * " + std::to_string(t.lanes()) : "") + ";");
  t.line("assume_in_row(first, n);");
  std::set<int> done;
  t.scalar_statements(~0u, &done);
  Pass pass;
  for (int i = 0; i < t.count(); ++i) {
    if (t.is_lane(i) && t.at(i).kind != kernel::Kind::Store) pass.body.push_back(i);
  }
  for (int i = 0; i < t.count(); ++i) {
    if (t.is_lane(i) && t.at(i).kind == kernel::Kind::Store) pass.body.push_back(i);
  }
  t.lane_statements(pass, "");
  for (int i = 0; i < t.count(); ++i) {
    if (!t.is_lane(i) && t.at(i).kind == kernel::Kind::Store) t.scalar_statement(i);
  }
  if (steps > 1) t.close();
  const int64_t of_block = static_cast<int64_t>(kBlockThreads) * steps;
  std::vector<PhaseText> out;
  out.push_back(t.take(kBlockThreads, (packs + of_block - 1) / of_block));
  return out;
}

}  // namespace fuselet::cuda::codegen
