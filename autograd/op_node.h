// The tape's node for a call of an operator of the table.
#pragma once
#include "autograd/vjp.h"

namespace fuselet {

// A tensor kept for backward, with the version that it had. Only a leaf is kept as it is. Of any other the memory alone
// is kept and its history is the node's edge: a later in-place call may give the tensor, or the base that it is a view
// of, a history that leads back to the node.
struct SavedTensor {
  Tensor tensor;
  uint32_t version = 0;
  bool present = false;
};

class OpNode final : public GradNode {
 public:
  // Keeps what the rule reads for the inputs that need a gradient. Called before the forward runs.
  explicit OpNode(const Call& call);
  // Keeps the results that the rule reads. Called after the forward has run.
  void save_results(const Call& call);

  std::string name() const override { return op_.name; }
  std::vector<Tensor> apply(std::vector<Tensor> grads) override;
  void release_saved() override;
  bool is_released() const override { return released_; }

 private:
  friend class VjpContext;
  friend void differentiate_decomposition(VjpContext&);
  const Tensor& unpack(const SavedTensor& saved, const char* what, int index) const;
  int edge_of(int arg, int k) const { return first_edge_[static_cast<size_t>(arg)] + k; }

  const Op& op_;
  std::vector<OwnedArg> args_;  // plain arguments; tensors are left out
  std::vector<SavedTensor> saved_args_;
  std::vector<SavedTensor> saved_results_;
  std::vector<int> first_edge_;          // of each argument
  std::vector<TensorMeta> input_metas_;  // one an edge
  bool saves_anything_ = false;
  bool released_ = false;
};

}  // namespace fuselet
