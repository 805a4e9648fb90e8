// Columns: for each pass over the rows, leaves of rows by strips of columns run in parallel and leave their sums in
// scratch memory; then the leaves of each column are combined, with what depends on them alone.
#include <algorithm>

#include "backends/cpu/codegen/row_passes.h"
#include "backends/cpu/codegen/structures.h"
#include "core/reduction_tree.h"

namespace fuselet::cpu::codegen {

using kernel::Kind;
using kernel::Nest;
using kernel::Statement;

namespace {

constexpr int64_t kRowMultiple = 16;  // lanes of the widest vector

int64_t outer_of(const Nest& n) {
  int64_t outer = 1;
  for (size_t d = 0; d + 2 < n.dims.size(); ++d) outer *= n.dims[d];
  return outer;
}
int64_t axis_of(const Nest& n) { return n.dims[n.dims.size() - 2]; }
int64_t columns_of(const Nest& n) { return n.dims.back(); }
int64_t strips_of(const Nest& n) { return (columns_of(n) + kStrip - 1) / kStrip; }
int64_t padded_columns(const Nest& n) { return (columns_of(n) + kRowMultiple - 1) / kRowMultiple * kRowMultiple; }
int64_t leaves_of(const Nest& n) { return leaf_count(axis_of(n)); }
int64_t sums_bytes(const Nest& n) { return leaves_of(n) * outer_of(n) * columns_of(n) * 8; }

class ColumnLoops {
 public:
  ColumnLoops(NestWriter& w, std::string name) : w_(w), name_(std::move(name)), passes_(row_passes(w.nest(), false)) {
    settled_.resize(static_cast<size_t>(w_.count()));
    for (int i = 0; i < w_.count(); ++i) {
      bool settled = w_.at(i).kind == Kind::Reduce || (w_.at(i).kind == Kind::Store && !on_axis(i));
      for_each_operand(i, [&](int a) { settled = settled || (is_settled(a) && !on_axis(i)); });
      settled_[static_cast<size_t>(i)] = settled;
    }
  }

  std::vector<Phase> write() {
    std::vector<Phase> phases;
    for (int p = 0; p < static_cast<int>(passes_.passes.size()); ++p) {
      phases.push_back(over_leaves(p));
      if (!passes_.passes[static_cast<size_t>(p)].reduces.empty()) phases.push_back(over_columns(p));
    }
    return phases;
  }

 private:
  bool on_axis(int i) const { return passes_.on_axis(w_.at(i)); }
  bool is_settled(int i) const { return settled_[static_cast<size_t>(i)]; }
  int ready(int i) const { return passes_.ready[static_cast<size_t>(i)]; }
  template <class F>
  void for_each_operand(int i, F&& f) const {
    for (int32_t a : w_.at(i).args) f(a);
    for (const auto& d : w_.at(i).indices) f(d.statement);
  }
  std::string number(int64_t (*of)(const Nest&)) {
    return w_.group().number([of](const PlacedNest& n) { return of(*n.nest); });
  }
  std::vector<bool> of_axis() const {
    std::vector<bool> skip = settled_;
    for (int i = 0; i < w_.count(); ++i) skip[static_cast<size_t>(i)] = is_settled(i) || ready(i) > 0;
    return skip;
  }

  // Statements that vary over neither axis nor columns, but over something.
  void outer_scalars() {
    for (int i = 0; i < w_.count(); ++i) {
      if (!w_.is_vector(i) && !on_axis(i) && w_.at(i).varies != 0 && w_.at(i).kind != Kind::Store)
        w_.scalar_statement(i);
    }
  }

  // Where a settled vector lies between phases: one row of padded columns for each outer position.
  void declare_settled(int i) {
    const std::string type = w_.at(i).dtype == DType::Bool ? "int" : held_type(w_.at(i).dtype);
    const std::string place = w_.group().number([i](const PlacedNest& n) {
      const int64_t sums = n.nest->body[static_cast<size_t>(i)].kind == Kind::Reduce ? sums_bytes(*n.nest) : 0;
      return n.scratch[static_cast<size_t>(i)] + sums;
    });
    w_.line(type + "* const settled_" + std::to_string(i) + " = (" + type + "*)(task.scratch + " + place +
            ") + outer * " + number(padded_columns) + ";");
  }
  void read_settled(int i) {
    const std::string type = w_.vector_type(w_.at(i).dtype);
    w_.line("const " + type + " " + w_.name(i) + " = kept<" + type + ">(settled_" + std::to_string(i) + " + j);");
  }
  void declare_sums(int i, const std::string& leaf) {
    const std::string type = held_type(accumulator(w_.at(i)));
    w_.line(type + "* const sums_" + std::to_string(i) + " = (" + type + "*)(task.scratch + " + w_.scratch(i) +
            ") + (outer * " + number(leaves_of) + leaf + ") * " + number(columns_of) + ";");
  }

  Phase over_leaves(int p) {
    const Pass& pass = passes_.passes[static_cast<size_t>(p)];
    const size_t axis = w_.rank() - 2;
    const std::string function = name_ + "_leaves_" + std::to_string(p);
    // Beside the statements on the axis: columns that they take.
    std::vector<bool> wanted(static_cast<size_t>(w_.count()));
    std::vector<int> columns, settled, rows, vectors;
    for (int i : pass.body) for_each_operand(i, [&](int a) { wanted[static_cast<size_t>(a)] = true; });
    for (int i : pass.reduces) wanted[static_cast<size_t>(w_.at(i).args[0])] = true;
    for (int i = w_.count(); i-- > 0;) {
      if (!wanted[static_cast<size_t>(i)] || on_axis(i)) continue;
      if (is_settled(i)) {
        settled.push_back(i);
        continue;
      }
      for_each_operand(i, [&](int a) { wanted[static_cast<size_t>(a)] = true; });
      if (w_.is_vector(i)) columns.push_back(i);
    }
    std::reverse(columns.begin(), columns.end());
    for (int i : pass.body) (w_.is_vector(i) ? vectors : rows).push_back(i);

    w_.begin_function(function, of_axis());
    w_.open("for (long tile = begin; tile < end; ++tile)");
    const std::string strips = number(strips_of), leaves = number(leaves_of);
    const std::string strip = std::to_string(kStrip);
    w_.line("const long first = tile % " + strips + " * " + strip + ", stop = least(first + " + strip + ", " +
            number(columns_of) + ");");
    w_.line("const long leaf = tile / " + strips + " % " + leaves + ";");
    w_.line("[[maybe_unused]] const long outer = tile / " + strips + " / " + leaves + ";");
    w_.unravel("outer", axis);
    outer_scalars();
    w_.place_pointers(columns, axis);
    w_.fill_tiles(columns);
    for (int i : settled) declare_settled(i);
    for (int i : pass.reduces) {
      declare_sums(i, " + leaf");
      w_.line("clear_sums<" + std::string(combine_name(w_.at(i))) + ">(sums_" + std::to_string(i) +
              " + first, stop - first);");
    }
    const std::string at = "p" + std::to_string(axis);
    w_.open("for (long " + at + " = leaf * 64; " + at + " < least(leaf * 64 + 64, " + w_.dim(axis) + "); ++" + at +
            ")");
    for (int i : rows) {
      if (w_.at(i).kind != Kind::Store) w_.scalar_statement(i);
    }
    w_.place_pointers(vectors, w_.last());
    w_.fill_tiles(vectors);
    w_.open(
        "over_lanes<W>(first, stop, [&]([[maybe_unused]] auto lanes, [[maybe_unused]] long j) "
        "__attribute__((always_inline))");
    for (int i : settled) read_settled(i);
    for (int i : columns) w_.vector_statement(i);
    for (int i : vectors) w_.vector_statement(i);
    for (int i : pass.reduces) {
      const Statement& s = w_.at(i);
      w_.line("add_to_sums<" + std::string(combine_name(s)) + ">(lanes, sums_" + std::to_string(i) + " + j, " +
              w_.lanes_of(s.args[0], accumulator(s)) + ");");
    }
    w_.close("});");
    for (int i : rows) {
      if (w_.at(i).kind == Kind::Store) w_.scalar_statement(i);
    }
    w_.close();
    w_.close();
    w_.close();
    return make_phase(
        function, [](const Nest& n) { return outer_of(n) * leaves_of(n) * strips_of(n); },
        [](const Nest& n) { return std::min(columns_of(n), kStrip) * std::min<int64_t>(axis_of(n), kRowsPerLeaf); });
  }

  // Results of the Reduces of pass p, and what is ready with them.
  Phase over_columns(int p) {
    const std::string function = name_ + "_columns_" + std::to_string(p);
    std::vector<bool> wanted(static_cast<size_t>(w_.count())), kept(static_cast<size_t>(w_.count()));
    for (int i = 0; i < w_.count(); ++i) {
      // A Store that waits for no Reduce goes with the first.
      if (!is_settled(i) || std::max(ready(i), 1) != p + 1) continue;
      wanted[static_cast<size_t>(i)] = true;
    }
    for (int i = 0; i < w_.count(); ++i) {
      if (w_.at(i).kind == Kind::Reduce) kept[static_cast<size_t>(i)] = true;
      // A later pass may also combine what does not vary along the axis.
      if (on_axis(i) || w_.at(i).kind == Kind::Reduce)
        for_each_operand(i,
                         [&](int a) { kept[static_cast<size_t>(a)] = kept[static_cast<size_t>(a)] || is_settled(a); });
    }
    std::vector<int> order;
    for (int i = w_.count(); i-- > 0;) {
      if (!wanted[static_cast<size_t>(i)]) continue;
      if (w_.is_vector(i)) order.push_back(i);
      if (w_.at(i).kind == Kind::Reduce) continue;
      for_each_operand(i, [&](int a) { wanted[static_cast<size_t>(a)] = true; });
    }
    std::reverse(order.begin(), order.end());

    w_.begin_function(function, of_axis());
    w_.open("for (long tile = begin; tile < end; ++tile)");
    const std::string strips = number(strips_of), strip = std::to_string(kStrip);
    w_.line("const long outer = tile / " + strips + ", first = tile % " + strips + " * " + strip + ";");
    w_.line("const long stop = least(first + " + strip + ", " + number(columns_of) + ");");
    w_.unravel("outer", w_.rank() - 2);
    outer_scalars();
    w_.place_pointers(order, w_.rank() - 2);
    w_.fill_tiles(order);
    for (int i : order) {
      if (kept[static_cast<size_t>(i)]) declare_settled(i);
      if (w_.at(i).kind == Kind::Reduce && ready(i) == p + 1) declare_sums(i, "");
    }
    w_.open(
        "over_lanes<W>(first, stop, [&]([[maybe_unused]] auto lanes, [[maybe_unused]] long j) "
        "__attribute__((always_inline))");
    for (bool stores : {false, true}) {
      for (int i : order) {
        const Statement& s = w_.at(i);
        if ((s.kind == Kind::Store) != stores) continue;
        if (s.kind == Kind::Reduce && ready(i) <= p) {
          read_settled(i);
          continue;
        }
        if (s.kind == Kind::Reduce) {
          const std::string value = "tree_of_leaves<" + std::string(combine_name(s)) + ", W>(lanes, sums_" +
                                    std::to_string(i) + " + j, " + number(leaves_of) + ", " + number(columns_of) + ")";
          w_.line("const " + w_.vector_type(s.dtype) + " " + w_.name(i) + " = " + w_.reduced(i, value) + ";");
        } else {
          w_.vector_statement(i);
        }
        if (kept[static_cast<size_t>(i)]) w_.line("keep(settled_" + std::to_string(i) + " + j, " + w_.name(i) + ");");
      }
    }
    w_.close("});");
    w_.close();
    w_.close();
    return make_phase(
        function, [](const Nest& n) { return outer_of(n) * strips_of(n); },
        [](const Nest& n) { return std::min(columns_of(n), kStrip) * leaves_of(n); });
  }

  Phase make_phase(const std::string& function, int64_t (*tiles)(const Nest&), int64_t (*elements)(const Nest&)) {
    Phase phase{function, {}, 0};
    for (const PlacedNest& n : w_.group().nests()) {
      phase.tiles.push_back(tiles(*n.nest));
      phase.work = std::max(phase.work, static_cast<double>(std::max<int64_t>(elements(*n.nest), 1)) * w_.cost());
    }
    return phase;
  }

  NestWriter& w_;
  std::string name_;
  RowPasses passes_;
  std::vector<bool> settled_;  // a Reduce, what depends on one, or a Store, without the axis
};

}  // namespace

std::vector<Phase> write_columns(NestWriter& w, const std::string& name) { return ColumnLoops(w, name).write(); }

std::vector<int64_t> scratch_of(const Nest& nest) {
  std::vector<int64_t> bytes(nest.body.size());
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < nest.dims.size(); ++d) rows *= nest.dims[d];
  for (size_t i = 0; i < bytes.size(); ++i) {
    const Statement& s = nest.body[i];
    if (nest.structure == kernel::Structure::Columns) {
      if (s.kind == Kind::Store) continue;
      bytes[i] = outer_of(nest) * padded_columns(nest) * 8 + (s.kind == Kind::Reduce ? sums_bytes(nest) : 0);
      if (s.varies >> (nest.dims.size() - 2) & 1) bytes[i] = 0;  // never kept
    } else if (s.kind == Kind::Reduce && nest.structure == kernel::Structure::SplitRows) {
      bytes[i] = rows * chunk_count(nest.dims.back()) * 8;
    } else if (is_column_sum(nest, s)) {
      bytes[i] = leaf_count(rows) * nest.dims.back() * 8;
    }
  }
  return bytes;
}

}  // namespace fuselet::cpu::codegen
