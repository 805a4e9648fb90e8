// Column reductions: leaves of rows in parallel, then their partial results; and rows whose columns are summed on the
// way.
#include <algorithm>
#include <numeric>

#include "backends/cuda/codegen/row_kernel.h"
#include "core/device_tree.h"

namespace fuselet::cuda::codegen {

using kernel::Kind;
using kernel::Statement;

namespace {

// Threads of a block of columns.
constexpr unsigned kColumnThreads = 128;

int64_t product(const std::vector<int64_t>& dims, size_t end) {
  int64_t out = 1;
  for (size_t d = 0; d < end; ++d) out *= dims[d];
  return out;
}

size_t bytes_of_accumulator(const Statement& s) { return size_of(accumulator(s)); }

int64_t aligned_256(int64_t bytes) { return (bytes + 255) / 256 * 256; }

// Partial results of Reduce s, and of how many columns.
struct PartialShape {
  int64_t partials, columns;
};
PartialShape partial_shape(const kernel::Nest& nest) {
  const size_t rank = nest.dims.size();
  switch (nest.structure) {
    case kernel::Structure::SplitRows:
      return {device_chunks(nest.dims.back()), product(nest.dims, rank - 1)};
    case kernel::Structure::Columns:
      return {column_leaves(nest.dims[rank - 2]), product(nest.dims, rank - 2) * nest.dims[rank - 1]};
    case kernel::Structure::RowsAndColumns:
      return {column_leaves(product(nest.dims, rank - 1)), nest.dims[rank - 1]};
    default:
      return {0, 0};
  }
}

bool has_partials(const kernel::Nest& nest, const Statement& s) {
  if (s.kind != Kind::Reduce) return false;
  return nest.structure != kernel::Structure::RowsAndColumns || s.tree == kernel::Tree::Column;
}

std::string pointer_text(const std::string& base, const std::string& offset) { return base + " + " + offset; }

}  // namespace

// Partial results of a Reduce, then its results.
int64_t partials_offset(const kernel::Nest& nest, int statement) {
  const PartialShape shape = partial_shape(nest);
  int64_t at = 0;
  for (int i = 0; i < statement; ++i) {
    const Statement& s = nest.body[static_cast<size_t>(i)];
    if (has_partials(nest, s))
      at += aligned_256((shape.partials + 1) * shape.columns * static_cast<int64_t>(bytes_of_accumulator(s)));
  }
  return at;
}
int64_t scratch_bytes_of(const kernel::Nest& nest) { return partials_offset(nest, static_cast<int>(nest.body.size())); }

PhaseText write_column_finish(NestText& t, const NestPlace& place, const ColumnFinish& f) {
  const kernel::Nest& nest = t.nest();
  t.line("const Index n = " + t.number("columns", f.columns) + ", leaves = " + t.number("leaves", f.leaves) + ";");
  // A warp of columns, a position of the partial results to each warp.
  t.line("const Index all = n * " + t.number("outer", f.outer) + ", column = block * 32 + (Index)threadIdx.x % 32;");
  t.line("const int position = threadIdx.x / 32;");
  t.line("[[maybe_unused]] __shared__ double results[kPartialPositions][32];");
  t.line("const Index at = column < all ? column : all - 1;");
  t.line("const Index group = " + t.quotient("at", "columns", f.columns) + ", first = at - group * n;");
  const size_t outer_rank = nest.structure == kernel::Structure::Columns ? nest.dims.size() - 2 : 0;
  std::vector<size_t> outer(outer_rank);
  std::iota(outer.begin(), outer.end(), size_t{0});
  t.unravel("group", outer);
  std::set<int> done;
  for (int i : f.reduces) {
    const std::string number = std::to_string(i), type = t.accumulator_type(i);
    const std::string partials = t.scratch("partials_" + number, type, place.scratch + partials_offset(nest, i));
    t.line("const " + type + " sum_of_" + number + " = combine_partials_together<" + combine_name(t.at(i)) + ">(" +
           partials + " + group * leaves * n + first, leaves, n, position, (" + type + "(*)[32])results);");
    if (f.keeps_results)
      t.line("if (position == 0 && column < all) " + partials + "[" + t.number("outer", f.outer) +
             " * leaves * n + at] = sum_of_" + number + ";");
    t.line("[[maybe_unused]] const " + std::string(held_type(t.at(i).dtype)) + " " + t.name(i) + " = " +
           t.reduced(i, "sum_of_" + number) + ";" + note_text(t.at(i)));
    done.insert(i);
  }
  t.line("if (position != 0 || column >= all) return;");
  t.scalar_statements((1u << outer_rank) - 1, &done);
  Pass pass;
  for (int i : f.tail) {
    if (t.is_lane(i) && t.at(i).kind != Kind::Store) pass.body.push_back(i);
  }
  for (int i : f.tail) {
    if (t.is_lane(i) && t.at(i).kind == Kind::Store) pass.body.push_back(i);
  }
  if (!pass.body.empty()) t.lane_statements(pass, "");
  const int64_t total = f.outer * f.columns;
  return t.take(32 * kPartialPositions, (total + 31) / 32);
}

namespace {

// The columns' phases share this: which group, leaf and columns a thread has.
class ColumnKernel {
 public:
  ColumnKernel(NestText& wide, NestText& narrow, const NestPlace& place)
      : t_(wide), narrow_(narrow), place_(place), nest_(wide.nest()), axis_(nest_.dims.size() - 2) {
    outer_ = product(nest_.dims, axis_);
    rows_ = nest_.dims[axis_];
    columns_ = nest_.dims[axis_ + 1];
    leaf_ = column_leaf(rows_);
    leaves_ = column_leaves(rows_);
    passes_ = plan_passes(nest_, false);
  }

  std::vector<PhaseText> write() {
    std::vector<PhaseText> out;
    const size_t levels = passes_.list.size();
    bool later = false;  // whether a phase runs over the rows again
    std::vector<int> last_stores;
    for (int i = 0; i < t_.count(); ++i) {
      if (t_.at(i).kind == Kind::Store && passes_.on_axis(t_.at(i))) last_stores.push_back(i);
    }
    int final_level = 0;
    for (size_t p = 0; p < levels; ++p) {
      if (!passes_.list[p].reduces.empty()) final_level = static_cast<int>(p);
    }
    later = !last_stores.empty() || final_level > 0;
    std::vector<int> finished;  // Reduces whose results lie in scratch memory
    for (int p = 0; p <= final_level; ++p) {
      const std::vector<int>& reduces = passes_.list[static_cast<size_t>(p)].reduces;
      if (reduces.empty()) continue;
      if (rows_ > 0) out.push_back(accumulate(reduces, finished));
      std::vector<int> all = finished;
      all.insert(all.end(), reduces.begin(), reduces.end());
      std::vector<int> stores;
      for (int i = 0; i < t_.count(); ++i) {
        if (t_.at(i).kind == Kind::Store && !passes_.on_axis(t_.at(i)) && p == final_level) stores.push_back(i);
      }
      out.push_back(write_column_finish(
          narrow_, place_,
          {outer_, leaves_, columns_, p == final_level ? all : reduces, needed_by(nest_, stores), later}));
      finished = all;
    }
    if (!last_stores.empty()) out.push_back(store(last_stores, finished));
    return out;
  }

 private:
  std::string result(int i) {
    const std::string number = std::to_string(i);
    const std::string base =
        t_.scratch("partials_" + number, t_.accumulator_type(i), place_.scratch + partials_offset(nest_, i));
    return base + "[" + t_.number("outer", outer_) + " * " + t_.number("leaves", leaves_) +
           " * n + group * n + first + v]";
  }

  Pass pass_of(const std::vector<int>& needed) const {
    Pass pass;
    for (bool stores : {false, true}) {
      for (int i : needed) {
        if (t_.is_lane(i) && (t_.at(i).kind == Kind::Store) == stores) pass.body.push_back(i);
      }
    }
    return pass;
  }

  void use_results(const std::vector<int>& finished) {
    for (int i : finished) {
      // An element beyond the last column has no result.
      t_.rename(i, "(inside ? " + t_.reduced(i, result(i)) + " : " + held_type(t_.at(i).dtype) + "())");
    }
  }

  void begin(int64_t strips, const std::string& rest) {
    const std::string lanes = std::to_string(t_.lanes());
    t_.line("const Index n = " + t_.dim(axis_ + 1) + ";");
    t_.line("const Index above_strip = " + t_.quotient("block", "strips", strips) + ";");
    t_.line("const Index first = ((block - above_strip * " + t_.number("strips", strips) + ") * " +
            std::to_string(kColumnThreads) + " + (Index)threadIdx.x) * " + lanes + ";");
    t_.line("if (first >= n) return;");
    t_.line(rest);
    std::vector<size_t> outer(axis_);
    std::iota(outer.begin(), outer.end(), size_t{0});
    t_.unravel("group", outer);
  }

  int64_t strips() const {
    const int64_t of_block = static_cast<int64_t>(kColumnThreads) * t_.lanes();
    return (columns_ + of_block - 1) / of_block;
  }

  PhaseText accumulate(const std::vector<int>& reduces, const std::vector<int>& finished) {
    const std::string p = "p" + std::to_string(axis_);
    use_results(finished);
    begin(strips(), "const Index group = " + t_.quotient("above_strip", "leaves", leaves_) +
                        ", leaf = above_strip - group * " + t_.number("leaves", leaves_) + ";");
    t_.line("const Index from = leaf * " + t_.number("leaf_rows", leaf_) + ", rows = " + t_.dim(axis_) + ";");
    t_.line("const Index end = rows - from < " + t_.number("leaf_rows", leaf_) + " ? rows : from + " +
            t_.number("leaf_rows", leaf_) + ";");
    std::set<int> done(finished.begin(), finished.end());
    t_.scalar_statements((1u << axis_) - 1, &done);
    std::vector<int> roots;
    for (int i : reduces) {
      t_.declare_accumulator(i);
      roots.push_back(t_.at(i).args[0]);
    }
    Pass pass = pass_of(needed_by(nest_, roots));
    pass.reduces = reduces;
    t_.line("#pragma unroll 8");
    t_.open("for (Index " + p + " = from; " + p + " < end; ++" + p + ")");
    t_.scalar_statements((1u << (axis_ + 1)) - 1, &done);
    t_.lane_statements(pass, "");
    t_.close();
    for (int i : reduces) {
      const std::string number = std::to_string(i);
      const std::string partials =
          t_.scratch("partials_" + number, t_.accumulator_type(i), place_.scratch + partials_offset(nest_, i));
      t_.line("store_pack<false>(" + partials + " + above_strip * n, first, n, acc_" + number + ");");
    }
    return t_.take(kColumnThreads, strips() * outer_ * leaves_);
  }

  PhaseText store(const std::vector<int>& stores, const std::vector<int>& finished) {
    const std::string p = "p" + std::to_string(axis_);
    use_results(finished);
    begin(strips(), "const Index group = " + t_.quotient("above_strip", "size_" + std::to_string(axis_), rows_) + ", " +
                        p + " = above_strip - group * " + t_.dim(axis_) + ";");
    std::set<int> done(finished.begin(), finished.end());
    t_.scalar_statements((1u << (axis_ + 1)) - 1, &done);
    t_.lane_statements(pass_of(needed_by(nest_, stores)), "");
    return t_.take(kColumnThreads, strips() * outer_ * rows_);
  }

  NestText &t_, &narrow_;
  const NestPlace& place_;
  const kernel::Nest& nest_;
  size_t axis_;
  int64_t outer_, rows_, columns_, leaf_, leaves_;
  Passes passes_;
};

}  // namespace

std::vector<PhaseText> write_columns(NestText& wide, NestText& narrow, const NestPlace& place) {
  return ColumnKernel(wide, narrow, place).write();
}

std::vector<PhaseText> write_rows_and_columns(NestText& t, NestText& narrow, const NestPlace& place) {
  const kernel::Nest& nest = t.nest();
  const int64_t rows = product(nest.dims, t.last()), columns = nest.dims.back();
  const int64_t leaf = column_leaf(rows), leaves = column_leaves(rows);
  const std::string lanes = std::to_string(t.lanes());
  RowKernel kernel(t);
  std::vector<int> sums;
  for (int i = 0; i < t.count(); ++i) {
    if (fuselet::codegen::is_column_sum(nest, t.at(i))) sums.push_back(i);
  }
  kernel.write_positions();
  t.line("const Index leaf = block * " + std::to_string(kernel.rows_of_block()) + " + row_of_block;");
  t.line("const Index rows = " + t.number("rows", rows) + ", leaf_rows = " + t.number("leaf_rows", leaf) + ";");
  for (int i : sums) {
    const std::string number = std::to_string(i), type = t.accumulator_type(i);
    const std::string partials = t.scratch("partials_" + number, type, place.scratch + partials_offset(nest, i)) +
                                 " + leaf * " + t.dim(t.last());
    if (!kernel.in_registers()) {
      t.line(type + "* const column_" + number + " = " + partials + ";");
      continue;
    }
    const std::string steps = std::to_string(kernel.steps());
    t.line(type + " column_" + number + "[" + steps + "][" + lanes + "];");
    t.line("for (int k = 0; k < " + steps + "; ++k) {");
    t.line("  for (int v = 0; v < " + lanes + "; ++v) column_" + number + "[k][v] = " + combine_name(t.at(i)) +
           "::identity<" + type + ">();");
    t.line("}");
  }
  const bool one_row = kernel.rows_of_block() == 1;  // else threads of one barrier end at different steps
  t.open(std::string("for (Index step = 0; step < leaf_rows") + (one_row ? " && leaf * leaf_rows + step < rows" : "") +
         "; ++step)");
  t.line("const Index row = leaf * leaf_rows + step;");
  t.line("[[maybe_unused]] const bool is_first_row = step == 0;");
  kernel.write_row("rows");
  std::vector<size_t> outer(t.last());
  std::iota(outer.begin(), outer.end(), size_t{0});
  t.unravel("row_at", outer);
  std::set<int> done;
  kernel.write_passes(&done);
  t.close();
  if (kernel.in_registers()) {
    t.open("if (leaf < " + t.number("leaves", leaves) + ")");
    t.line("#pragma unroll");
    t.open("for (int k = 0; k < " + std::to_string(kernel.steps()) + "; ++k)");
    t.line("const Index first = (Index)(k * kThreads + thread) * " + lanes + ";");
    for (int i : sums) {
      const std::string number = std::to_string(i);
      t.line(
          "store_pack<false>(" +
          pointer_text(t.scratch("partials_" + number, t.accumulator_type(i), place.scratch + partials_offset(nest, i)),
                       "leaf * " + t.dim(t.last())) +
          ", first, " + t.dim(t.last()) + ", column_" + number + "[k]);");
    }
    t.close();
    t.close();
  }
  std::vector<PhaseText> out;
  if (rows > 0) {
    out.push_back(t.take(kernel.threads_of_block(), (leaves + kernel.rows_of_block() - 1) / kernel.rows_of_block()));
  } else {
    t.take(1, 0);
  }
  std::vector<int> stores;
  const std::vector<bool> after = fuselet::codegen::after_column_sums(nest);
  for (int i = 0; i < t.count(); ++i) {
    if (t.at(i).kind == Kind::Store && after[static_cast<size_t>(i)]) stores.push_back(i);
  }
  out.push_back(write_column_finish(narrow, place, {1, leaves, columns, sums, needed_by(nest, stores), false}));
  return out;
}

}  // namespace fuselet::cuda::codegen
