#include "compiler/schedule/arrange_nest.h"

#include <algorithm>
#include <numeric>

#include "compiler/lower/nest_builder.h"

namespace fuselet::schedule {
namespace {

using kernel::Kind;
using kernel::Nest;
using kernel::Statement;
using kernel::Structure;
using lower::Refusal;

// Elements: a row longer than this is worth several threads when there are few rows.
constexpr int64_t kLongRow = 1 << 15;
constexpr int64_t kFewRows = 8;

bool has_access(const Statement& s) {
  return s.kind == Kind::Load || s.kind == Kind::LoadAt || s.kind == Kind::Store || s.kind == Kind::Position ||
         s.kind == Kind::Random;
}

// New dim i is old dim order[i].
void reorder(Nest& nest, const std::vector<size_t>& order) {
  auto permute = [&](std::vector<int64_t>& v) {
    std::vector<int64_t> out;
    for (size_t d : order) out.push_back(v[d]);
    v = std::move(out);
  };
  permute(nest.dims);
  for (Statement& s : nest.body) {
    if (has_access(s)) permute(s.access.strides);
    uint32_t varies = 0;
    for (size_t i = 0; i < order.size(); ++i) varies |= (s.varies >> order[i] & 1) << i;
    s.varies = varies;
  }
}

bool may_join(const Nest& nest, size_t outer) {
  const int64_t inner_size = nest.dims[outer + 1];
  for (const Statement& s : nest.body) {
    if (has_access(s) && s.access.strides[outer] != s.access.strides[outer + 1] * inner_size) return false;
  }
  return true;
}

// Joins dims `outer` and outer + 1.
void join(Nest& nest, size_t outer) {
  nest.dims[outer + 1] *= nest.dims[outer];
  nest.dims.erase(nest.dims.begin() + static_cast<std::ptrdiff_t>(outer));
  const uint32_t low = (1u << outer) - 1;
  for (Statement& s : nest.body) {
    if (has_access(s)) s.access.strides.erase(s.access.strides.begin() + static_cast<std::ptrdiff_t>(outer));
    const uint32_t inner = (s.varies >> outer | s.varies >> (outer + 1)) & 1;
    s.varies = (s.varies & low) | inner << outer | (s.varies >> (outer + 2)) << (outer + 1);
  }
}

// Joins what can be joined of the dims [first, end); returns how many are left of them.
size_t join_range(Nest& nest, size_t first, size_t end) {
  for (size_t d = end; d-- > first + 1;) {
    if (may_join(nest, d - 1)) {
      join(nest, d - 1);
      --end;
    }
  }
  return end - first;
}

void insert_unit_dim(Nest& nest, size_t at) {
  nest.dims.insert(nest.dims.begin() + static_cast<std::ptrdiff_t>(at), 1);
  const uint32_t low = (1u << at) - 1;
  for (Statement& s : nest.body) {
    if (has_access(s)) s.access.strides.insert(s.access.strides.begin() + static_cast<std::ptrdiff_t>(at), 0);
    s.varies = (s.varies & low) | (s.varies & ~low) << 1;
  }
}

// The dim along which most accesses step by one element.
size_t best_last_dim(const Nest& nest) {
  size_t best = nest.dims.size() - 1;
  int most = -1;
  for (size_t d = nest.dims.size(); d-- > 0;) {
    int count = 0;
    for (const Statement& s : nest.body) {
      if (has_access(s) && s.access.strides[d] == 1) count += s.kind == Kind::Store ? 2 : 1;
    }
    if (count > most) {
      most = count;
      best = d;
    }
  }
  return best;
}

void require_full_stores(const Nest& nest, uint32_t needed, const char* reason) {
  for (const Statement& s : nest.body) {
    if (s.kind == Kind::Store && (s.varies & needed) != needed) throw Refusal{reason};
  }
}

uint32_t wide_dims(const Nest& nest, size_t first, size_t end) {
  uint32_t mask = 0;
  for (size_t d = first; d < end; ++d) {
    if (nest.dims[d] != 1) mask |= 1u << d;
  }
  return mask;
}

void arrange_pointwise(Nest& nest) {
  require_full_stores(nest, wide_dims(nest, 0, nest.dims.size()), "is stored once, not for every element");
  if (nest.dims.empty()) insert_unit_dim(nest, 0);
  std::vector<size_t> order(nest.dims.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t last = best_last_dim(nest);
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(last));
  order.push_back(last);
  reorder(nest, order);
  join_range(nest, 0, nest.dims.size());
  nest.structure = Structure::Pointwise;
}

// For each statement: whether it depends on a Reduce.
std::vector<bool> after_reduce(const Nest& nest) {
  std::vector<bool> after(nest.body.size(), false);
  for (size_t i = 0; i < nest.body.size(); ++i) {
    const Statement& s = nest.body[i];
    bool depends = s.kind == Kind::Reduce;
    for (int32_t a : s.args) depends |= after[static_cast<size_t>(a)];
    for (const kernel::IndexedDim& x : s.indices) depends |= after[static_cast<size_t>(x.statement)];
    after[i] = depends;
  }
  return after;
}

void arrange_rows(Nest& nest, uint32_t row_dims, uint32_t column_dims) {
  const size_t rank = nest.dims.size();
  std::vector<size_t> order;
  for (size_t d = 0; d < rank; ++d) {
    if (!(row_dims >> d & 1)) order.push_back(d);
  }
  const size_t kept = order.size();
  for (size_t d = 0; d < rank; ++d) {
    if (row_dims >> d & 1) order.push_back(d);
  }
  uint32_t other = 0;
  for (size_t d = 0; d < kept; ++d) other |= 1u << order[d];
  if (column_dims != 0 && column_dims != other) throw Refusal{"reduces over different axes"};
  reorder(nest, order);
  if (rank == kept) insert_unit_dim(nest, rank);
  if (join_range(nest, kept, nest.dims.size()) != 1) throw Refusal{"reduces over elements that do not lie in one run"};
  const size_t outer = join_range(nest, 0, kept);
  const uint32_t last = 1u << outer, outer_dims = wide_dims(nest, 0, outer);
  const std::vector<bool> after = after_reduce(nest);
  const bool has_columns = column_dims != 0;
  bool terminal = true;
  std::vector<bool> of_columns(nest.body.size(), false);  // depends on a column's result
  for (size_t i = 0; i < nest.body.size(); ++i) {
    const Statement& s = nest.body[i];
    if (s.kind == Kind::Reduce && s.tree == kernel::Tree::Column) of_columns[i] = true;
    auto depends_on = [&](int32_t a) {
      if (!of_columns[static_cast<size_t>(a)]) return;
      // Column sums are there when all rows have run; no pass over a row can combine them.
      if (s.kind == Kind::Reduce) throw Refusal{"reduces sums over all rows"};
      of_columns[i] = true;
    };
    for (int32_t a : s.args) depends_on(a);
    for (const kernel::IndexedDim& d : s.indices) depends_on(d.statement);
    if (of_columns[i] && (s.varies & outer_dims)) throw Refusal{"reads a sum over all rows inside a row"};
    if (s.kind == Kind::Store && !of_columns[i] && (s.varies & outer_dims) != outer_dims)
      throw Refusal{"is stored once, not for every row"};
    if (after[i] && !of_columns[i] && s.kind != Kind::Reduce && (s.varies & last)) terminal = false;
  }
  int64_t rows = 1;
  for (size_t d = 0; d < outer; ++d) rows *= nest.dims[d];
  if (!terminal && rows < kFewRows && nest.dims.back() > kLongRow)
    throw Refusal{"would leave each of a few long rows to one thread"};
  nest.structure = has_columns                                                  ? Structure::RowsAndColumns
                   : terminal && rows < kFewRows && nest.dims.back() > kLongRow ? Structure::SplitRows
                                                                                : Structure::Rows;
}

void arrange_columns(Nest& nest, uint32_t column_dims) {
  const size_t rank = nest.dims.size();
  size_t last_reduced = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (column_dims >> d & 1) last_reduced = d;
  }
  std::vector<size_t> order;
  for (size_t d = 0; d < last_reduced; ++d) {
    if (!(column_dims >> d & 1)) order.push_back(d);
  }
  const size_t before = order.size();
  for (size_t d = 0; d < rank; ++d) {
    if (column_dims >> d & 1) order.push_back(d);
  }
  const size_t reduced_end = order.size();
  for (size_t d = last_reduced + 1; d < rank; ++d) order.push_back(d);
  reorder(nest, order);
  if (reduced_end == rank) insert_unit_dim(nest, rank);
  size_t behind = join_range(nest, reduced_end, nest.dims.size());
  if (join_range(nest, before, reduced_end) != 1) throw Refusal{"reduces over elements that do not lie in one run"};
  // The kept dims behind the axis go in front of it, but for the last.
  if (behind > 1) {
    std::vector<size_t> moved;
    for (size_t d = 0; d < before; ++d) moved.push_back(d);
    for (size_t d = before + 1; d + 1 < nest.dims.size(); ++d) moved.push_back(d);
    moved.push_back(before);
    moved.push_back(nest.dims.size() - 1);
    reorder(nest, moved);
  }
  const size_t axis = nest.dims.size() - 2;
  join_range(nest, 0, axis);
  const size_t outer = nest.dims.size() - 2;
  uint32_t needed = wide_dims(nest, 0, outer) | wide_dims(nest, outer + 1, outer + 2);
  require_full_stores(nest, needed, "is stored once, not for every column");
  nest.structure = Structure::Columns;
}

}  // namespace

void arrange_nest(Nest& nest, const std::vector<uint32_t>& reduced) {
  uint32_t rows = 0, columns = 0;
  bool any_row = false, any_column = false;
  for (size_t i = 0; i < nest.body.size(); ++i) {
    const Statement& s = nest.body[i];
    if (s.kind != Kind::Reduce) continue;
    const bool row = s.tree == kernel::Tree::Row;
    uint32_t& mask = row ? rows : columns;
    bool& any = row ? any_row : any_column;
    if (any && mask != reduced[i]) throw Refusal{"reduces over different axes"};
    mask = reduced[i];
    any = true;
  }
  if (any_row) return arrange_rows(nest, rows, any_column ? columns : 0);
  if (any_column && columns != 0) return arrange_columns(nest, columns);
  if (any_column) {
    // An axis of one element combines to that element on either tree.
    for (Statement& s : nest.body) {
      if (s.kind == Kind::Reduce) s.tree = kernel::Tree::Row;
    }
    return arrange_rows(nest, 0, 0);
  }
  arrange_pointwise(nest);
}

}  // namespace fuselet::schedule
