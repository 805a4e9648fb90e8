// Runs a graph operator by operator on the backend of its tensors, with the very kernels that eager mode runs.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"
#include "core/generator.h"

namespace fuselet::replay {

// `inputs`: one tensor an input. `wanted`: the values to give back, in order. A value is dropped after its last reader.
// Random nodes draw at base.draws + their own number. Advances act on the cells.
std::vector<Tensor> interpret(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                              const std::vector<CellPtr>& cells, GeneratorState base,
                              const std::vector<ir::ValueId>& wanted);

}  // namespace fuselet::replay
