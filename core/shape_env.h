// The symbols, expressions, ranges and guards of one recording.
// Every expression node is (kind, left, right, hint, range); equal nodes are stored once. A comparison that the ranges
// alone decide adds no guard; any other is answered by the hints and listed, with the user's line where it is known.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/sym_int.h"

namespace fuselet {

struct SymRange {
  int64_t low = 0;
  int64_t high = std::numeric_limits<int64_t>::max() / 4;
};

class ShapeEnv {
 public:
  enum class Kind : uint8_t { Symbol, Add, Subtract, Multiply, FloorDivide, Modulo, Min, Max };
  struct Node {
    Kind kind;
    SymInt left, right;
    int64_t hint;
    SymRange range;
    std::string name;
  };
  enum class Relation : uint8_t { Equal, NotEqual, Less, GreaterEqual };
  struct Guard {
    SymInt left, right;
    Relation relation;
    std::string where;
  };

  SymInt new_symbol(const std::string& name, int64_t hint, SymRange range = {});
  SymInt build(Kind kind, SymInt left, SymInt right);
  bool equal(SymInt a, SymInt b);
  bool less(SymInt a, SymInt b);
  int64_t hint(SymInt v) const { return v.is_symbolic() ? node(v).hint : v.word(); }
  SymRange range(SymInt v) const;
  // The value of `v` for other sizes of the symbols, given in order of their making.
  int64_t evaluate(SymInt v, const std::vector<int64_t>& symbols) const;
  // True iff every guard holds for these sizes.
  bool holds(const std::vector<int64_t>& symbols) const;
  std::string print(SymInt v) const;
  std::string print(const Guard& guard) const;

  const std::vector<Guard>& guards() const { return guards_; }
  int32_t num_symbols() const { return static_cast<int32_t>(symbols_.size()); }

 private:
  const Node& node(SymInt v) const { return nodes_[static_cast<size_t>(v.index())]; }
  void add_guard(SymInt a, Relation relation, SymInt b);

  std::vector<Node> nodes_;
  std::vector<int32_t> symbols_;
  std::vector<Guard> guards_;
  std::map<std::tuple<Kind, int64_t, int64_t>, int32_t> interned_;
};

}  // namespace fuselet
