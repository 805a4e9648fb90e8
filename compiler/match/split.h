// A joint graph cut into a forward and a backward that comes later.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace fuselet::match {

// Where an input of the backward comes from: an input or an output of the forward.
struct SavedValue {
  bool is_input;
  size_t index;
};

struct SplitGraph {
  ir::Graph forward;  // its outputs: those of the joint graph, then the saved values that are neither these nor inputs
  ir::Graph backward;
  std::vector<SavedValue> saved;  // the inputs of the backward before the gradients
};

// `joint`: nodes up to `num_forward` compute its outputs and writes, those behind them `gradients` (from the inputs
// `tangents` on, of which the forward has none). What the backward reads of the forward is saved; views of it are taken
// again. A saved input that the forward writes is saved as an output, which is its value before the write.
SplitGraph split_backward(const ir::Graph& joint, size_t num_forward, size_t first_tangent,
                          const std::vector<ir::ValueId>& gradients);

}  // namespace fuselet::match
