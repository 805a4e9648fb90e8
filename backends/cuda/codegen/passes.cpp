#include "backends/cuda/codegen/passes.h"

#include <algorithm>

#include "backends/codegen/column_sums.h"

namespace fuselet::cuda::codegen {

using kernel::Kind;
using kernel::Nest;
using kernel::Statement;

namespace {

template <class F>
void for_each_operand(const Statement& s, F&& f) {
  for (int32_t a : s.args) f(static_cast<size_t>(a));
  for (const auto& d : s.indices) f(static_cast<size_t>(d.statement));
}

// Conversions and constants cost no more than a register.
bool is_worth_keeping(const Statement& s) {
  return s.kind == Kind::Load || s.kind == Kind::LoadAt || s.kind == Kind::Random || s.kind == Kind::Formula;
}

// Whether a load of the nest may read what the store writes: the same buffer, or one that a caller may pass twice.
bool may_be_loaded(const Nest& nest, const Statement& store) {
  return std::any_of(nest.body.begin(), nest.body.end(), [&](const Statement& s) {
    return (s.kind == Kind::Load || s.kind == Kind::LoadAt) && s.dtype == store.dtype &&
           (s.access.buffer == store.access.buffer ||
            (s.access.offset == store.access.offset && s.access.strides == store.access.strides));
  });
}

class PassPlanner {
 public:
  PassPlanner(const Nest& nest, bool keep)
      : nest_(nest), keep_(keep), after_(fuselet::codegen::after_column_sums(nest)), made_(nest.body.size(), -1) {}

  Passes plan() {
    const size_t rank = nest_.dims.size();
    out_.axis = 1u << (nest_.structure == kernel::Structure::Columns ? rank - 2 : rank - 1);
    find_ready();
    for (size_t p = 0; p < out_.list.size(); ++p) fill(p);
    return std::move(out_);
  }

 private:
  bool is_column(const Statement& s) const { return fuselet::codegen::is_column_sum(nest_, s); }

  void find_ready() {
    const size_t count = nest_.body.size();
    out_.ready.assign(count, 0);
    int last = -1;
    for (size_t i = 0; i < count; ++i) {
      const Statement& s = nest_.body[i];
      if (after_[i] && !is_column(s)) continue;
      int& ready = out_.ready[i];
      for_each_operand(s, [&](size_t a) { ready = std::max(ready, out_.ready[a]); });
      if (s.kind == Kind::Reduce || (s.kind == Kind::Store && out_.on_axis(s))) last = std::max(last, ready);
      if (s.kind == Kind::Reduce && !is_column(s)) ++ready;
    }
    out_.list.resize(static_cast<size_t>(last + 1));
    roots_.resize(out_.list.size());
    for (size_t i = 0; i < count; ++i) {
      const Statement& s = nest_.body[i];
      if (s.kind == Kind::Reduce && (!after_[i] || is_column(s))) {
        const auto pass = static_cast<size_t>(out_.ready[i] - (is_column(s) ? 0 : 1));
        out_.list[pass].reduces.push_back(static_cast<int>(i));
        roots_[pass].push_back(static_cast<size_t>(s.args[0]));
      } else if (s.kind == Kind::Store && out_.on_axis(s) && !after_[i]) {
        if (may_be_loaded(nest_, s)) out_.ready[i] = last;
        roots_[static_cast<size_t>(out_.ready[i])].push_back(i);
      }
    }
  }

  void fill(size_t p) {
    const size_t count = nest_.body.size();
    std::vector<bool> wanted(count), kept(count);
    for (size_t root : roots_[p]) wanted[root] = true;
    for (size_t i = count; i-- > 0;) {
      const Statement& s = nest_.body[i];
      if (!wanted[i] || !out_.on_axis(s)) continue;
      if (keep_ && made_[i] >= 0 && is_worth_keeping(s)) {
        kept[i] = true;
        std::vector<int>& keeps = out_.list[static_cast<size_t>(made_[i])].keeps;
        if (std::find(keeps.begin(), keeps.end(), static_cast<int>(i)) == keeps.end())
          keeps.push_back(static_cast<int>(i));
        continue;
      }
      for_each_operand(s, [&](size_t a) { wanted[a] = true; });
    }
    Pass& pass = out_.list[p];
    for (bool stores : {false, true}) {
      for (size_t i = 0; i < count; ++i) {
        const Statement& s = nest_.body[i];
        if (!wanted[i] || !out_.on_axis(s) || (s.kind == Kind::Store) != stores) continue;
        (kept[i] ? pass.reads : pass.body).push_back(static_cast<int>(i));
        if (!kept[i] && made_[i] < 0) made_[i] = static_cast<int>(p);
      }
    }
  }

  const Nest& nest_;
  bool keep_;
  std::vector<bool> after_;
  std::vector<int> made_;  // the pass that calculated it first
  std::vector<std::vector<size_t>> roots_;
  Passes out_;
};

}  // namespace

Passes plan_passes(const Nest& nest, bool keep) { return PassPlanner(nest, keep).plan(); }

}  // namespace fuselet::cuda::codegen
