// In which pass over its axis each statement of a nest runs. The axis is what Reduces combine along: the last dim of
// rows, the last but one of columns.
//
// A Reduce is ready in the pass after the one that its argument is calculated in. A Store whose element may be one that
// the nest loads runs in the last pass. What a later pass needs again is calculated again, unless that costs more than
// a buffer and the row is short enough for one.
#pragma once
#include <cstdint>
#include <vector>

#include "backends/codegen/column_sums.h"
#include "compiler/lower/kernel.h"

namespace fuselet::cpu::codegen {

using fuselet::codegen::after_column_sums;
using fuselet::codegen::is_column_sum;

struct Pass {
  std::vector<int> body;     // statements on the axis that the pass calculates, in order; Stores last
  std::vector<int> reduces;  // that it feeds
  std::vector<int> keeps;    // of body: what later passes read from a buffer
  std::vector<int> reads;    // kept by an earlier pass
};

struct RowPasses {
  uint32_t axis;           // its bit
  std::vector<int> ready;  // a statement: number of passes that come before it
  std::vector<Pass> passes;

  bool on_axis(const kernel::Statement& s) const { return s.varies & axis; }
};

// Bytes of one kept row at most: a few of them stay in the first-level cache.
inline constexpr int64_t kKeptBytes = 16384;

RowPasses row_passes(const kernel::Nest& nest, bool may_keep);

// True iff it takes the time of many operations: a transcendental formula, a random number.
bool is_dear(const kernel::Statement& s);
// Sizes that the text depends on: whether a row is one chunk.
int size_class(const kernel::Nest& nest);

}  // namespace fuselet::cpu::codegen
