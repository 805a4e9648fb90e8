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

// What a value costs to work out again, in vector instructions, at most. A few more than the store and the load of
// keeping it pay for the room it takes in the cache.
constexpr int kDearCost = 16, kKeptCost = 4;

bool fits(const Nest& nest, const Statement& s) {
  return nest.dims.back() * (s.dtype == DType::Float32 || !is_float(s.dtype) ? 4 : 8) <= kKeptBytes;
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

// Statements that a pass calculates for its roots, marked in `wanted`, less those that `kept` holds.
template <class Keep>
void want_operands(const Nest& nest, const RowPasses& r, std::vector<bool>& wanted, Keep&& is_kept) {
  for (size_t i = nest.body.size(); i-- > 0;) {
    const Statement& s = nest.body[i];
    if (!wanted[i] || !r.on_axis(s) || is_kept(i)) continue;
    for_each_operand(s, [&](int32_t a) { wanted[static_cast<size_t>(a)] = true; });
  }
}

// Dear statements that only a later pass wants, of the operands that a dear one of an earlier pass has, become roots of
// that pass: formulas of the same operands share most of their work.
void advance_dear(const Nest& nest, const RowPasses& r, std::vector<std::vector<int>>& roots) {
  const size_t count = nest.body.size();
  std::vector<int> first(count, -1);  // the pass that wants it first
  for (size_t p = 0; p < roots.size(); ++p) {
    std::vector<bool> wanted(count);
    for (int root : roots[p]) wanted[static_cast<size_t>(root)] = true;
    want_operands(nest, r, wanted, [](size_t) { return false; });
    for (size_t i = 0; i < count; ++i) {
      if (wanted[i] && first[i] < 0) first[i] = static_cast<int>(p);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const Statement& s = nest.body[i];
    if (first[i] < 0 || s.kind != Kind::Formula || !is_dear(s) || !r.on_axis(s) || !fits(nest, s)) continue;
    int earliest = first[i];
    for (size_t k = 0; k < count; ++k) {
      const Statement& other = nest.body[k];
      if (first[k] >= 0 && other.kind == Kind::Formula && is_dear(other) && other.args == s.args &&
          other.compute == s.compute) {
        earliest = std::min(earliest, first[k]);
      }
    }
    if (earliest < first[i]) roots[static_cast<size_t>(earliest)].push_back(static_cast<int>(i));
  }
}

}  // namespace

bool is_dear(const Statement& s) {
  return s.kind == Kind::Random || (s.kind == Kind::Formula && prelude_formula(op_of(s.op).formula).dear);
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

  if (may_keep) advance_dear(nest, r, roots);

  std::vector<int> made(count, -1);  // the pass that calculated it first
  std::vector<bool> held(count);     // kept for some pass
  for (size_t p = 0; p < r.passes.size(); ++p) {
    std::vector<int> cost(count);
    for (size_t i = 0; i < count; ++i) {
      const Statement& s = nest.body[i];
      if (!r.on_axis(s) || s.kind == Kind::Constant || s.kind == Kind::Scalar) continue;
      cost[i] = is_dear(s) && !held[i] ? kDearCost : 1;
      if (held[i]) continue;
      for_each_operand(s, [&](int32_t a) { cost[i] = std::min(cost[i] + cost[static_cast<size_t>(a)], kDearCost); });
    }
    std::vector<bool> wanted(count), kept(count);
    for (int root : roots[p]) wanted[static_cast<size_t>(root)] = true;
    want_operands(nest, r, wanted, [&](size_t i) {
      const Statement& s = nest.body[i];
      if (!may_keep || made[i] < 0 || made[i] == static_cast<int>(p)) return false;
      if (!held[i] && (cost[i] <= kKeptCost || !fits(nest, s))) return false;
      std::vector<int>& keeps = r.passes[static_cast<size_t>(made[i])].keeps;
      if (!held[i]) keeps.push_back(static_cast<int>(i));
      kept[i] = held[i] = true;
      return true;
    });
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
