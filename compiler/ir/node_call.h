// A graph node as a call of its operator, over a table of tensors by value.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"

namespace fuselet::ir {

// A tensor without memory that has the given geometry, for shape rules.
Tensor stand_in(const TensorMeta& meta);

// An argument that is neither a tensor nor a number bound to a cell, as a node keeps it. InternalError for tensors.
GraphArg plain_argument(const Arg& arg);

// Keeps the unpacked arguments of one node alive.
class NodeCall {
 public:
  // `cells` may be null where cells need no value; then they read as 0.
  NodeCall(const Node& node, const std::vector<Tensor>& values, const std::vector<CellPtr>* cells);
  Call& get() { return call_; }
  std::vector<Tensor>& outputs() { return outputs_; }

 private:
  std::vector<Arg> args_;
  std::vector<Scalar> scalars_;
  std::vector<std::vector<Tensor>> lists_;
  std::vector<Tensor> outputs_;
  Call call_;
};

}  // namespace fuselet::ir
