// A compiled graph: what a call runs. Immutable; calls from several threads may run at once.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "core/generator.h"

namespace fuselet {

struct RunInputs {
  std::span<const Tensor> inputs;   // one an input of the graph, laid out as recorded
  std::span<const double> scalars;  // one a cell of the graph, as it stands when the run begins
  GeneratorState draws;             // of draw 0 of the graph
};

struct RunOutputs {
  std::vector<Tensor> outputs;  // one an output of the graph, in the layout of its meta
  std::vector<Tensor> grads;    // one an entry of graph.grads
};

class Executable {
 public:
  virtual ~Executable() = default;
  virtual const ir::Graph& graph() const = 0;
  // Advances of cells are the caller's to carry out after the run; inside it, reads see them. Writes of the graph go
  // into the memory of the inputs (version counters are bumped); outputs are fresh tensors, or the input itself where
  // the graph returns one unchanged. An exception leaves the inputs as they were.
  virtual RunOutputs run(const RunInputs& in) const = 0;
};

}  // namespace fuselet
