// The backward tape: nodes, and the edges between them.
//
// A node stands for one forward call. It takes the gradients of the call's outputs and gives those of its inputs; edge
// i says where the gradient of input i goes: into output `index` of another node, or into a leaf tensor. Nodes are
// numbered in the order of the forward pass. A chain of any length is destroyed without recursion.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/op.h"

namespace fuselet {

class GradNode;
using GradNodePtr = IntrusivePtr<GradNode>;

struct Edge {
  GradNodePtr node;
  uint32_t index = 0;
  TensorImplPtr leaf;
  bool exists() const { return node || leaf; }
};

class GradNode : public GradNodeBase {
 public:
  GradNode();
  virtual std::string name() const = 0;
  // `grads` has one entry an output, undefined where no gradient arrived. Returns one entry an edge.
  virtual std::vector<Tensor> apply(std::vector<Tensor> grads) = 0;
  // Drops what was kept for apply(); a later apply() is the user's error.
  virtual void release_saved() {}
  // True iff what apply() needs has been dropped.
  virtual bool is_released() const { return false; }

  std::vector<Edge> edges;
  // By output.
  std::vector<std::pair<uint32_t, std::shared_ptr<NodeHook>>> hooks;
  uint32_t num_outputs = 1;
  uint64_t sequence;
  // Where the forward call stands, for errors and for the origin of recorded backward operators.
  std::string line;
  int32_t recorded_origin = -1;
  uint64_t recorded_in = 0;  // the recording that the origin belongs to

 protected:
  void destroy() noexcept override;
};

// Where the gradient of `t` goes; an empty edge if it needs none. A view whose base was written since is taken again
// first.
Edge gradient_edge(const Tensor& t);
// Makes `node`'s output `index` the origin of `t`.
void set_history(const Tensor& t, const GradNodePtr& node, uint32_t index);

}  // namespace fuselet
