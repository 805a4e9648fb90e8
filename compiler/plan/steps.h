// What a compiled graph does, step by step: a kernel's launch, a call of a backend's kernel for one node, or such a
// call with a kernel that runs on each part of its result.
#pragma once
#include <vector>

#include "compiler/lower/lower.h"

namespace fuselet::plan {

struct Step {
  int32_t kernel = -1;                     // of the lowered kernels
  int32_t node = -1;                       // of the graph: the call
  std::vector<ir::ValueId> reads, writes;  // base values
  bool may_fail = false;                   // reads at positions that come from data
};

std::vector<Step> make_steps(const lower::GraphFacts& facts, const std::vector<lower::LoweredKernel>& kernels,
                             const std::vector<int32_t>& calls);

// A write of the graph whose new value may be made in the input's own memory, and the step that makes it.
struct InPlaceWrite {
  size_t write;  // of graph.writes
  size_t step;
};

struct Order {
  std::vector<Step> steps;
  std::vector<InPlaceWrite> in_place;
};

// Puts the steps in order: every step after what it reads, the one next that keeps least memory alive, ties as the
// program had them. A step that makes the new value of an input comes after all that read the old one and after all
// that may fail; where it cannot, or where it reads the old value at other places than it writes, the new value is made
// elsewhere and copied at the end.
Order order_steps(const lower::GraphFacts& facts, const std::vector<lower::LoweredKernel>& kernels,
                  std::vector<Step> steps);

std::string print(const Order& order, const lower::GraphFacts& facts, const std::vector<lower::LoweredKernel>& kernels);

// True iff the step has a call that reads memory of `base`.
bool call_reads(const lower::GraphFacts& facts, const Step& step, ir::ValueId base);

// True iff the kernel may write `to` into the memory of `from`: it reads each element of it in a pointwise nest alone,
// where that nest writes it.
bool may_overwrite(const lower::LoweredKernel& kernel, ir::ValueId from, ir::ValueId to);

}  // namespace fuselet::plan
