#include "core/shape_env.h"

#include <algorithm>

#include "core/dispatch_state.h"
#include "core/error.h"

namespace fuselet {
namespace {

int64_t apply(ShapeEnv::Kind kind, int64_t a, int64_t b) {
  switch (kind) {
    case ShapeEnv::Kind::Add:
      return a + b;
    case ShapeEnv::Kind::Subtract:
      return a - b;
    case ShapeEnv::Kind::Multiply:
      return a * b;
    case ShapeEnv::Kind::FloorDivide:
      return (SymInt(a) / SymInt(b)).word();
    case ShapeEnv::Kind::Modulo:
      return (SymInt(a) % SymInt(b)).word();
    case ShapeEnv::Kind::Min:
      return std::min(a, b);
    case ShapeEnv::Kind::Max:
      return std::max(a, b);
    case ShapeEnv::Kind::Symbol:
      break;
  }
  throw InternalError("a symbol has no operands", __FILE__, __LINE__);
}

// The interval that holds kind(x, y) for x in a and y in b.
SymRange apply(ShapeEnv::Kind kind, SymRange a, SymRange b) {
  constexpr int64_t kMost = SymRange{}.high;
  auto saturate = [](__int128 v) {
    return static_cast<int64_t>(std::clamp<__int128>(v, -static_cast<__int128>(kMost), kMost));
  };
  if (kind == ShapeEnv::Kind::FloorDivide && b.low <= 0) return {-kMost, kMost};
  if (kind == ShapeEnv::Kind::Modulo) return b.low > 0 ? SymRange{0, b.high - 1} : SymRange{-kMost, kMost};
  if (kind == ShapeEnv::Kind::Min) return {std::min(a.low, b.low), std::min(a.high, b.high)};
  if (kind == ShapeEnv::Kind::Max) return {std::max(a.low, b.low), std::max(a.high, b.high)};
  __int128 corners[4];
  int n = 0;
  for (int64_t x : {a.low, a.high}) {
    for (int64_t y : {b.low, b.high}) {
      if (kind == ShapeEnv::Kind::Add) corners[n++] = static_cast<__int128>(x) + y;
      if (kind == ShapeEnv::Kind::Subtract) corners[n++] = static_cast<__int128>(x) - y;
      if (kind == ShapeEnv::Kind::Multiply) corners[n++] = static_cast<__int128>(x) * y;
      if (kind == ShapeEnv::Kind::FloorDivide) corners[n++] = (SymInt(x) / SymInt(y)).word();
    }
  }
  return {saturate(*std::min_element(corners, corners + n)), saturate(*std::max_element(corners, corners + n))};
}

bool compare(ShapeEnv::Relation relation, int64_t a, int64_t b) {
  switch (relation) {
    case ShapeEnv::Relation::Equal:
      return a == b;
    case ShapeEnv::Relation::NotEqual:
      return a != b;
    case ShapeEnv::Relation::Less:
      return a < b;
    case ShapeEnv::Relation::GreaterEqual:
      return a >= b;
  }
  return false;
}

}  // namespace

SymInt ShapeEnv::new_symbol(const std::string& name, int64_t hint, SymRange range) {
  nodes_.push_back({Kind::Symbol, 0, 0, hint, range, name});
  symbols_.push_back(static_cast<int32_t>(nodes_.size() - 1));
  return SymInt::symbolic(symbols_.back());
}

SymInt ShapeEnv::build(Kind kind, SymInt left, SymInt right) {
  auto is = [](SymInt v, int64_t n) { return !v.is_symbolic() && v.word() == n; };
  if (!left.is_symbolic() && !right.is_symbolic()) return apply(kind, left.word(), right.word());
  if ((kind == Kind::Add || kind == Kind::Subtract) && is(right, 0)) return left;
  if (kind == Kind::Add && is(left, 0)) return right;
  if (kind == Kind::Multiply && (is(left, 0) || is(right, 0))) return 0;
  if ((kind == Kind::Multiply || kind == Kind::FloorDivide) && is(right, 1)) return left;
  if (kind == Kind::Multiply && is(left, 1)) return right;
  if (kind == Kind::Modulo && is(right, 1)) return 0;
  if (left.word() == right.word()) {
    if (kind == Kind::Subtract) return 0;
    if (kind == Kind::Min || kind == Kind::Max) return left;
  }
  bool commutes = kind == Kind::Add || kind == Kind::Multiply || kind == Kind::Min || kind == Kind::Max;
  if (commutes && left.word() > right.word()) std::swap(left, right);
  auto [slot, fresh] = interned_.try_emplace({kind, left.word(), right.word()}, static_cast<int32_t>(nodes_.size()));
  if (fresh) {
    nodes_.push_back(
        {kind, left, right, apply(kind, hint(left), hint(right)), apply(kind, range(left), range(right)), ""});
  }
  return SymInt::symbolic(slot->second);
}

SymRange ShapeEnv::range(SymInt v) const { return v.is_symbolic() ? node(v).range : SymRange{v.word(), v.word()}; }

bool ShapeEnv::equal(SymInt a, SymInt b) {
  SymRange ra = range(a), rb = range(b);
  if (ra.high < rb.low || rb.high < ra.low) return false;
  bool answer = hint(a) == hint(b);
  add_guard(a, answer ? Relation::Equal : Relation::NotEqual, b);
  return answer;
}

bool ShapeEnv::less(SymInt a, SymInt b) {
  SymRange ra = range(a), rb = range(b);
  if (ra.high < rb.low) return true;
  if (ra.low >= rb.high) return false;
  bool answer = hint(a) < hint(b);
  add_guard(a, answer ? Relation::Less : Relation::GreaterEqual, b);
  return answer;
}

void ShapeEnv::add_guard(SymInt a, Relation relation, SymInt b) {
  for (const Guard& g : guards_) {
    if (g.left.word() == a.word() && g.right.word() == b.word() && g.relation == relation) return;
  }
  guards_.push_back({a, b, relation, current_line()});
}

int64_t ShapeEnv::evaluate(SymInt v, const std::vector<int64_t>& symbols) const {
  if (!v.is_symbolic()) return v.word();
  const Node& n = node(v);
  if (n.kind != Kind::Symbol) return apply(n.kind, evaluate(n.left, symbols), evaluate(n.right, symbols));
  auto at = std::find(symbols_.begin(), symbols_.end(), v.index()) - symbols_.begin();
  return symbols.at(static_cast<size_t>(at));
}

bool ShapeEnv::holds(const std::vector<int64_t>& symbols) const {
  return std::all_of(guards_.begin(), guards_.end(), [&](const Guard& g) {
    return compare(g.relation, evaluate(g.left, symbols), evaluate(g.right, symbols));
  });
}

std::string ShapeEnv::print(SymInt v) const {
  if (!v.is_symbolic()) return std::to_string(v.word());
  const Node& n = node(v);
  std::string l = n.kind == Kind::Symbol ? "" : print(n.left), r = n.kind == Kind::Symbol ? "" : print(n.right);
  switch (n.kind) {
    case Kind::Symbol:
      return n.name;
    case Kind::Add:
      return "(" + l + " + " + r + ")";
    case Kind::Subtract:
      return "(" + l + " - " + r + ")";
    case Kind::Multiply:
      return "(" + l + " * " + r + ")";
    case Kind::FloorDivide:
      return "(" + l + " // " + r + ")";
    case Kind::Modulo:
      return "(" + l + " % " + r + ")";
    case Kind::Min:
      return "min(" + l + ", " + r + ")";
    case Kind::Max:
      return "max(" + l + ", " + r + ")";
  }
  return "?";
}

std::string ShapeEnv::print(const Guard& g) const {
  constexpr const char* kSigns[] = {" == ", " != ", " < ", " >= "};
  std::string text = print(g.left) + kSigns[static_cast<int>(g.relation)] + print(g.right);
  return g.where.empty() ? text : text + "  # " + g.where;
}

}  // namespace fuselet
