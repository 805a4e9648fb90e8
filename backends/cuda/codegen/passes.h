// In which pass over its axis each statement of a nest runs, and what later passes find kept. The axis is what Reduces
// combine along: the last dim of rows, the last but one of columns.
//
// A Reduce is ready in the pass after the one that its argument is calculated in. A Store whose element the nest may
// load runs in the last pass.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/lower/kernel.h"

namespace fuselet::cuda::codegen {

struct Pass {
  std::vector<int> body;     // statements on the axis that the pass calculates, in order; Stores last
  std::vector<int> reduces;  // that it feeds
  std::vector<int> keeps;    // of body: what later passes read
  std::vector<int> reads;    // kept by an earlier pass
};

struct Passes {
  uint32_t axis;           // its bit
  std::vector<int> ready;  // a statement: number of passes that come before it
  std::vector<Pass> list;

  bool on_axis(const kernel::Statement& s) const { return s.varies & axis; }
};

// `keep`: later passes read loaded, random and calculated values where an earlier one has them; else each pass
// calculates and loads anew.
Passes plan_passes(const kernel::Nest& nest, bool keep);

}  // namespace fuselet::cuda::codegen
