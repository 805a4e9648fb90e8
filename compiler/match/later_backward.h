// The tape's node of a compiled call whose backward comes later.
#pragma once
#include "autograd/grad_node.h"
#include "compiler/match/program.h"

namespace fuselet::match {

class CompiledBackward final : public GradNode {
 public:
  CompiledBackward(std::shared_ptr<const Program> program, std::vector<Tensor> saved, std::vector<double> scalars,
                   GeneratorState draws);
  std::string name() const override { return "compiled"; }
  std::vector<Tensor> apply(std::vector<Tensor> grads) override;
  void release_saved() override;
  bool is_released() const override { return released_; }

 private:
  struct Saved {
    Tensor tensor;
    uint32_t version;
  };
  std::shared_ptr<const Program> program_;
  std::vector<Saved> saved_;
  std::vector<double> scalars_;
  GeneratorState draws_;
  bool released_ = false;
};

// Of a call whose backward cannot be: running it throws `reason`.
GradNodePtr failing_backward(std::string reason);

// Marks tensors of a running call that require grad, and those whose backward has run inside it.
const GradNodePtr& history_inside_call();

}  // namespace fuselet::match
