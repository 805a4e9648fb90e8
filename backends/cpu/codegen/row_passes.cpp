#include "backends/cpu/codegen/row_passes.h"

#include <algorithm>

#include "backends/codegen/prelude_text.h"
#include "core/reduction_tree.h"

namespace fuselet::cpu::codegen {

using fuselet::codegen::prelude_formula;

using kernel::Kind;
using kernel::Nest;
using kernel::Statement;
using kernel::Structure;

namespace {

bool is_dear(const Statement& s) {
  return s.kind == Kind::Random || (s.kind == Kind::Formula && prelude_formula(op_of(s.op).formula).dear);
}

// Whether a load of the nest may read what the store writes.
bool may_be_loaded(const Nest& nest, const Statement& store) {
  return std::any_of(nest.body.begin(), nest.body.end(), [&](const Statement& s) {
    return (s.kind == Kind::Load || s.kind == Kind::LoadAt) && s.dtype == store.dtype &&
           (s.access.buffer == store.access.buffer ||
            (s.access.offset == store.access.offset && s.access.strides == store.access.strides));
  });
}

template <class F>
void for_each_operand(const Statement& s, F&& f) {
  for (int32_t a : s.args) f(a);
  for (const auto& d : s.indices) f(d.statement);
}

}  // namespace

bool is_column_sum(const Nest& nest, const Statement& s) {
  return s.kind == Kind::Reduce && nest.structure == Structure::RowsAndColumns && s.tree == kernel::Tree::Column;
}

std::vector<bool> after_column_sums(const Nest& nest) {
  std::vector<bool> after(nest.body.size());
  for (size_t i = 0; i < after.size(); ++i) {
    const Statement& s = nest.body[i];
    bool depends = is_column_sum(nest, s);
    for_each_operand(s, [&](int32_t a) { depends = depends || after[static_cast<size_t>(a)]; });
    after[i] = depends;
  }
  return after;
}

int size_class(const Nest& nest) {
  if (nest.structure == Structure::Pointwise || nest.structure == Structure::Tile) return 0;
  const int64_t n = nest.dims.back();
  return n == 0 ? 0 : n <= kChunk ? 1 : 2;
}

RowPasses row_passes(const Nest& nest, bool may_keep) {
  const size_t count = nest.body.size(), rank = nest.dims.size();
  const std::vector<bool> after = after_column_sums(nest);
  RowPasses r;
  r.axis = 1u << (nest.structure == Structure::Columns ? rank - 2 : rank - 1);
  r.ready.assign(count, 0);
  int last = -1;  // the last pass that has to be
  for (size_t i = 0; i < count; ++i) {
    const Statement& s = nest.body[i];
    if (after[i] && !is_column_sum(nest, s)) continue;
    for_each_operand(s, [&](int32_t a) { r.ready[i] = std::max(r.ready[i], r.ready[static_cast<size_t>(a)]); });
    if (s.kind == Kind::Reduce) {
      last = std::max(last, r.ready[i]);
      if (!is_column_sum(nest, s)) ++r.ready[i];
    } else if (s.kind == Kind::Store && r.on_axis(s)) {
      last = std::max(last, r.ready[i]);
    }
  }
  r.passes.resize(static_cast<size_t>(last + 1));

  // Roots: what a pass is there for.
  std::vector<std::vector<int>> roots(r.passes.size());
  for (size_t i = 0; i < count; ++i) {
    const Statement& s = nest.body[i];
    if (s.kind == Kind::Reduce && (!after[i] || is_column_sum(nest, s))) {
      const size_t pass = static_cast<size_t>(r.ready[i] - (is_column_sum(nest, s) ? 0 : 1));
      r.passes[pass].reduces.push_back(static_cast<int>(i));
      roots[pass].push_back(s.args[0]);
    } else if (s.kind == Kind::Store && r.on_axis(s) && !after[i]) {
      if (may_be_loaded(nest, s)) r.ready[i] = last;
      roots[static_cast<size_t>(r.ready[i])].push_back(static_cast<int>(i));
    }
  }

  std::vector<int> made(count, -1);  // the pass that calculated it first
  for (size_t p = 0; p < r.passes.size(); ++p) {
    std::vector<bool> wanted(count), kept(count);
    for (int root : roots[p]) wanted[static_cast<size_t>(root)] = true;
    for (size_t i = count; i-- > 0;) {
      const Statement& s = nest.body[i];
      if (!wanted[i] || !r.on_axis(s)) continue;
      const int64_t bytes = nest.dims.back() * (s.dtype == DType::Float32 || !is_float(s.dtype) ? 4 : 8);
      if (may_keep && made[i] >= 0 && made[i] < static_cast<int>(p) && is_dear(s) && bytes <= kKeptBytes) {
        kept[i] = true;
        std::vector<int>& keeps = r.passes[static_cast<size_t>(made[i])].keeps;
        if (std::find(keeps.begin(), keeps.end(), static_cast<int>(i)) == keeps.end()) {
          keeps.push_back(static_cast<int>(i));
        }
        continue;
      }
      for_each_operand(s, [&](int32_t a) { wanted[static_cast<size_t>(a)] = true; });
    }
    Pass& pass = r.passes[p];
    for (bool stores : {false, true}) {
      for (size_t i = 0; i < count; ++i) {
        if (!wanted[i] || !r.on_axis(nest.body[i]) || (nest.body[i].kind == Kind::Store) != stores) continue;
        if (kept[i]) {
          pass.reads.push_back(static_cast<int>(i));
        } else {
          pass.body.push_back(static_cast<int>(i));
          if (made[i] < 0) made[i] = static_cast<int>(p);
        }
      }
    }
  }
  return r;
}

}  // namespace fuselet::cpu::codegen
