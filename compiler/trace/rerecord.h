// Records a graph anew, node by node, with a rule that may compute the results of a node in another way. The
// decompose stage and the passes that replace nodes are such rules.
//
// What a rule calls is recorded in the node's place and takes its origin. Inputs, cells, advances, draws, writes, grads
// and outputs stay. Note [Layouts of values]: `view` and `as_strided` depend on the strides of what they read, and a
// result has the strides that the recording promised. Where that matters, and the new way of computing a value gives
// other strides than the old, a clone into the old ones is recorded; elsewhere a value takes the strides that it gets.
// A rule may give an earlier value for a result: where the caller of the graph would see that they are one, it is
// cloned.
#pragma once
#include <functional>

#include "compiler/ir/graph.h"
#include "compiler/trace/recorder.h"

namespace fuselet::trace {

class Rerecording;

// Puts the results into call.outs and returns true; or returns false and has recorded nothing.
using NodeRule = std::function<bool(Rerecording&, const ir::Node&, Call&)>;

class Rerecording {
 public:
  explicit Rerecording(const ir::Graph& from);
  // True: the rule replaced something.
  bool run(const NodeRule& rule);
  ir::Graph take() { return std::move(recorder_.graph()); }

  const ir::Graph& from() const { return from_; }
  // What stands for a value of the old graph.
  const Tensor& now(ir::ValueId old) const { return values_[static_cast<size_t>(old)]; }
  // True iff the strides of the old graph's value must stay.
  bool layout_matters(ir::ValueId old) const { return layout_matters_[static_cast<size_t>(old)]; }
  // Records `node` of the old graph once more, on other operands of the same dtypes (of any, for a view): `operand`
  // gives what stands for each. What is recorded from here on in place of the current node has the origin of both.
  // Entry: one output, no draw, no cell (its value may have moved on since).
  Tensor again(const ir::Node& node, const std::function<Tensor(ir::ValueId)>& operand);
  // While set, casts between float32 and 16-bit floats are boundaries.
  void mark_boundaries(bool on) { recorder_.mark_boundaries(on); }

 private:
  void advance_before(size_t n);
  void record_node(const ir::Node& node, const NodeRule& rule, bool* changed);
  void finish();

  const ir::Graph& from_;
  Recorder recorder_;
  std::vector<Tensor> values_;
  std::vector<bool> layout_matters_, escaping_;
  std::vector<CellPtr> cells_;
  size_t next_advance_ = 0;
  ir::Origin origin_;  // of the current node
};

ir::Graph rerecord(const ir::Graph& graph, const NodeRule& rule, bool* changed);

}  // namespace fuselet::trace
