// The backward engine: walks the tape from the outputs, newest node first, without recursion, on the caller's thread.
//
// Gradients of leaves are added up first and written to `.grad` only when the whole walk has succeeded, so an error
// leaves every `.grad` as it was. With create_graph the walk itself is recorded.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace fuselet {

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
  // Error at the first node whose backward gives a NaN, with the line of its forward call; reads every gradient.
  bool detect_anomaly = false;
};

// Accumulates into the `.grad` of every leaf that `outputs` depend on. A missing entry of grad_outputs stands for 1 and
// needs an output of one element.
void backward(const std::vector<Tensor>& outputs, std::vector<Tensor> grad_outputs = {}, BackwardOptions options = {});

// The gradients of `outputs` with respect to `inputs`; touches no `.grad`. Error for an input that the outputs do not
// depend on, unless allow_unused (then an undefined tensor).
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         std::vector<Tensor> grad_outputs = {}, BackwardOptions options = {},
                         bool allow_unused = false);

}  // namespace fuselet
