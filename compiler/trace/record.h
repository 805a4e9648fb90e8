// Recording a function, and replaying what was recorded.
//
// record(f, args) runs f once on deferred tensors: forward, backward(), optimizer steps and in-place updates become one
// functional graph. Then the graph runs once, and every tensor that outlives f (results, gradients, updated parameters)
// holds its value, as if f had run eagerly: bit for bit, the random draws included.
//
// A recording is for the path that f took: it does not see Python or C++ state that f reads besides tensors and host
// cells. Error where f asks for a value while it is recorded (item(), printing data).
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace fuselet {

using RecordedBody = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct RecordOptions {
  std::string name = "graph";
  // Better names for parameters than t0, t1, …
  std::vector<std::pair<std::string, Tensor>> names;
};

class RecordedFunction {
 public:
  const ir::Graph& graph() const { return graph_; }
  // Runs the graph operator by operator on the tensors' backend: reads the lifted tensors and cells as they are now,
  // takes its draws from the default generator, writes what the function wrote. Arguments must have the recorded shapes
  // and dtypes. On an error nothing has been written.
  std::vector<Tensor> operator()(const std::vector<Tensor>& args) const;
  // What f returned when it was recorded.
  const std::vector<Tensor>& first_outputs() const { return first_outputs_; }
  // One tensor an input of the graph; undefined for arguments.
  const std::vector<Tensor>& lifted() const { return lifted_; }
  const std::vector<CellPtr>& cells() const { return cells_; }

 private:
  friend RecordedFunction record(const RecordedBody&, const std::vector<Tensor>&, RecordOptions);
  ir::Graph graph_;
  std::vector<Tensor> lifted_;
  std::vector<CellPtr> cells_;
  std::vector<Tensor> grad_owners_;  // one an entry of graph.grads: the tensor whose `.grad` is set
  size_t num_results_ = 0;           // of the graph's outputs, those that f returned
  std::vector<Tensor> first_outputs_;
};

RecordedFunction record(const RecordedBody& f, const std::vector<Tensor>& args, RecordOptions options = {});

}  // namespace fuselet
