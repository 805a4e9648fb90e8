// A recorded graph in double precision: the oracle of whole training steps. Values are not rounded between operators.
#pragma once
#include <vector>

#include "backends/reference/reference.h"
#include "compiler/ir/graph.h"

namespace fuselet::reference {

struct GraphResult {
  std::vector<RefTensor> outputs, writes, grads;  // in the graph's order
  std::vector<double> cells;                      // after the advances
};

// `inputs`: one an input of the graph. `cells`: their values before the run. Random nodes draw at base.draws + their
// own number, with base.seed.
GraphResult interpret(const ir::Graph& graph, const std::vector<RefTensor>& inputs, std::vector<double> cells,
                      GeneratorState base);

}  // namespace fuselet::reference
