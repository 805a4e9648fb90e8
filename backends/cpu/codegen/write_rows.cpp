#include <algorithm>

#include "backends/cpu/codegen/row_loops.h"
#include "backends/cpu/codegen/structures.h"
#include "core/reduction_tree.h"

namespace fuselet::cpu::codegen {

using kernel::Kind;
using kernel::Nest;
using kernel::Statement;

namespace {

int64_t product(const Nest& nest, size_t end) {
  int64_t n = 1;
  for (size_t d = 0; d < end; ++d) n *= nest.dims[d];
  return n;
}

int64_t rows_of(const PlacedNest& n) { return product(*n.nest, n.nest->dims.size() - 1); }
int64_t width_of(const PlacedNest& n) { return n.nest->dims.back(); }

Phase make_phase(NestWriter& w, const std::string& function, const std::function<int64_t(const PlacedNest&)>& tiles,
                 const std::function<int64_t(const PlacedNest&)>& elements) {
  Phase phase{function, {}, 0};
  for (const PlacedNest& n : w.group().nests()) {
    phase.tiles.push_back(tiles(n));
    phase.work = std::max(phase.work, static_cast<double>(std::max<int64_t>(elements(n), 1)) * w.cost());
  }
  return phase;
}

std::string scratch_pointer(NestWriter& w, int i) {
  return "(" + std::string(held_type(accumulator(w.at(i)))) + "*)(task.scratch + " + w.scratch(i) + ")";
}

// The last phase of RowsAndColumns: sums of leaves, and what depends on them, for each column.
Phase write_column_results(NestWriter& w, const RowLoops& loops, const std::string& function) {
  auto leaves = [](const PlacedNest& n) { return int64_t{leaf_count(rows_of(n))}; };
  const std::string n = w.dim(w.last()), count = w.group().number(leaves);
  std::vector<bool> wanted(static_cast<size_t>(w.count()));
  std::vector<int> placed;
  for (int i = w.count(); i-- > 0;) {
    const size_t at = static_cast<size_t>(i);
    const Statement& s = w.at(i);
    wanted[at] = wanted[at] || loops.after_columns()[at];
    if (!wanted[at]) continue;
    if (w.is_vector(i)) placed.push_back(i);
    if (is_column_sum(w.nest(), s)) continue;
    for (int32_t a : s.args) wanted[static_cast<size_t>(a)] = true;
    for (const auto& d : s.indices) wanted[static_cast<size_t>(d.statement)] = true;
  }
  std::reverse(placed.begin(), placed.end());
  w.begin_function(function, loops.of_rows());
  w.place_pointers(placed, 0);
  for (int i : placed) {
    if (is_column_sum(w.nest(), w.at(i)))
      w.line("const auto* const sums_" + std::to_string(i) + " = " + scratch_pointer(w, i) + ";");
  }
  w.open("for (long strip = begin; strip < end; ++strip)");
  const std::string size = std::to_string(kStrip);
  w.line("const long first = strip * " + size + ", stop = least(first + " + size + ", " + n + ");");
  w.fill_tiles(placed);
  w.open(
      "over_lanes<W>(first, stop, [&]([[maybe_unused]] auto lanes, [[maybe_unused]] long j) "
      "__attribute__((always_inline))");
  for (bool stores : {false, true}) {
    for (int i : placed) {
      const Statement& s = w.at(i);
      if ((s.kind == Kind::Store) != stores) continue;
      if (!is_column_sum(w.nest(), s)) {
        w.vector_statement(i);
        continue;
      }
      const std::string value = "tree_of_leaves<" + std::string(combine_name(s)) + ", W>(lanes, sums_" +
                                std::to_string(i) + " + j, " + count + ", " + n + ")";
      w.line("const " + w.vector_type(s.dtype) + " " + w.name(i) + " = " + w.reduced(i, value) + ";");
    }
  }
  w.close("});");
  w.close();
  w.close();
  return make_phase(
      w, function, [](const PlacedNest& n) { return (width_of(n) + kStrip - 1) / kStrip; },
      [&](const PlacedNest& n) { return kStrip * std::max<int64_t>(leaves(n), 1); });
}

}  // namespace

std::vector<Phase> write_pointwise(NestWriter& w, const std::string& name) {
  RowLoops loops(w, false);
  auto segments = [](const PlacedNest& n) { return (width_of(n) + kSegment - 1) / kSegment; };
  const std::string n = w.dim(w.last()), count = w.group().number(segments), size = std::to_string(kSegment);
  w.begin_function(name, loops.of_rows());
  w.open("for (long tile = begin; tile < end; ++tile)");
  if (count == "1") {
    w.unravel("tile", w.last());
  } else {
    w.line("[[maybe_unused]] const long row = tile / " + count + ", from = tile % " + count + " * " + size + ";");
    w.unravel("row", w.last());
  }
  loops.begin_row();
  for (int p = 0; p < static_cast<int>(loops.passes().passes.size()); ++p) {
    loops.pass(p, count == "1" ? "0" : "from", count == "1" ? n : "least(from + " + size + ", " + n + ")", false);
  }
  w.close();
  w.close();
  return {make_phase(
      w, name, [&](const PlacedNest& p) { return rows_of(p) * segments(p); },
      [](const PlacedNest& p) { return std::min(width_of(p), kSegment); })};
}

std::vector<Phase> write_tile(NestWriter& w, const std::string& name) {
  RowLoops loops(w, false);
  w.begin_function(name, loops.of_rows());
  w.line("const Part2d part = *(const Part2d*)task.scratch;");
  w.open("for (long tile = part.row; tile < part.row_end; ++tile)");
  w.unravel("tile", w.last());
  loops.begin_row();
  for (int p = 0; p < static_cast<int>(loops.passes().passes.size()); ++p)
    loops.pass(p, "part.column", "part.column_end", false);
  w.close();
  w.close();
  // One part a launch, on the thread that launches.
  return {make_phase(
      w, name, [](const PlacedNest&) { return int64_t{1}; }, [](const PlacedNest&) { return int64_t{1}; })};
}

std::vector<Phase> write_rows(NestWriter& w, const std::string& name) {
  RowLoops loops(w, true);
  w.begin_function(name, loops.of_rows());
  loops.declare_kept();
  w.open("for (long row = begin; row < end; ++row)");
  w.unravel("row", w.last());
  loops.whole_row();
  w.close();
  w.close();
  return {make_phase(w, name, rows_of, width_of)};
}

std::vector<Phase> write_split_rows(NestWriter& w, const std::string& name) {
  RowLoops loops(w, false);
  auto chunks = [](const PlacedNest& n) { return int64_t{chunk_count(width_of(n))}; };
  const std::string n = w.dim(w.last()), count = w.group().number(chunks);
  std::vector<int> reduces;
  for (int i = 0; i < w.count(); ++i) {
    if (w.at(i).kind == Kind::Reduce) reduces.push_back(i);
  }
  std::vector<Phase> phases;
  w.begin_function(name + "_chunks", loops.of_rows());
  w.open("for (long tile = begin; tile < end; ++tile)");
  w.line("[[maybe_unused]] const long row = tile / " + count + ", from = tile % " + count + " * 512;");
  w.unravel("row", w.last());
  loops.begin_row(false);
  for (int p = 0; p < static_cast<int>(loops.passes().passes.size()); ++p) {
    loops.pass(p, "from", "least(from + 512, " + n + ")", true);
    for (int i : loops.passes().passes[static_cast<size_t>(p)].reduces) {
      w.line("(" + scratch_pointer(w, i) + ")[tile] = total_" + std::to_string(i) + ";");
    }
  }
  w.close();
  w.close();
  phases.push_back(make_phase(
      w, name + "_chunks", [&](const PlacedNest& p) { return rows_of(p) * chunks(p); },
      [](const PlacedNest&) { return int64_t{kChunk}; }));

  w.begin_function(name + "_rows", loops.of_rows());
  w.open("for (long row = begin; row < end; ++row)");
  w.unravel("row", w.last());
  loops.scalars(0);
  for (int i : reduces) {
    const std::string value = "tree_of_chunks<" + std::string(combine_name(w.at(i))) + ">(" + scratch_pointer(w, i) +
                              " + row * " + count + ", " + count + ")";
    w.line("[[maybe_unused]] const " + std::string(held_type(w.at(i).dtype)) + " " + w.name(i) + " = " +
           w.reduced(i, value) + ";");
  }
  loops.scalars(1);
  w.close();
  w.close();
  phases.push_back(make_phase(w, name + "_rows", rows_of, chunks));
  return phases;
}

std::vector<Phase> write_rows_and_columns(NestWriter& w, const std::string& name) {
  RowLoops loops(w, true);
  const std::string n = w.dim(w.last()), rows = w.group().number(rows_of);
  w.begin_function(name + "_leaves", loops.of_rows());
  loops.declare_kept();
  w.open("for (long leaf = begin; leaf < end; ++leaf)");
  for (int i = 0; i < w.count(); ++i) {
    if (!is_column_sum(w.nest(), w.at(i))) continue;
    const std::string sums = "sums_" + std::to_string(i);
    w.line("auto* const " + sums + " = " + scratch_pointer(w, i) + " + leaf * " + n + ";");
    w.line("clear_sums<" + std::string(combine_name(w.at(i))) + ">(" + sums + ", " + n + ");");
  }
  w.open("for (long row = leaf * 64; row < least(leaf * 64 + 64, " + rows + "); ++row)");
  w.unravel("row", w.last());
  loops.whole_row();
  w.close();
  w.close();
  w.close();
  std::vector<Phase> phases;
  phases.push_back(make_phase(
      w, name + "_leaves", [](const PlacedNest& p) { return int64_t{leaf_count(rows_of(p))}; },
      [](const PlacedNest& p) { return width_of(p) * kRowsPerLeaf; }));
  phases.push_back(write_column_results(w, loops, name + "_columns"));
  return phases;
}

}  // namespace fuselet::cpu::codegen
