// What a VJP rule sees: the gradients of the outputs, what the forward call saved, and where to put the gradients of
// the inputs. Rules are written in differentiable operators, so they record and differentiate again.
#pragma once
#include "autograd/grad_node.h"

namespace fuselet {

// An operand as it was saved: a tensor or a number.
class SavedOperand {
 public:
  SavedOperand(Tensor t) : tensor_(std::move(t)) {}
  SavedOperand(Scalar s) : scalar_(std::move(s)) {}
  // The number; null for a tensor.
  const Scalar* number() const { return tensor_.defined() ? nullptr : &scalar_; }
  operator Operand() const { return tensor_.defined() ? Operand(tensor_) : Operand(scalar_); }

 private:
  Tensor tensor_;
  Scalar scalar_;
};

class OpNode;

class VjpContext {
 public:
  VjpContext(OpNode& node, std::vector<Tensor> grads);

  // The gradient of an output; undefined if none arrived.
  const Tensor& grad(size_t output = 0) const { return grads_[output]; }
  // True iff the gradient of argument `i` (entry `k` of a list) is wanted.
  bool needs(int i, int k = 0) const;
  // Saved arguments and results; Error if they were written since the forward call. Undefined for an absent optional
  // one.
  Tensor tensor(int i) const;
  SavedOperand operand(int i) const;
  Tensor result(int i = 0) const;
  bool has(int i) const;
  // Sizes and dtype of a tensor argument, whether saved or not.
  const TensorMeta& meta(int i, int k = 0) const;
  int list_size(int i) const;
  // Plain arguments.
  int64_t integer(int i) const { return sym(i).concrete(); }
  SymInt sym(int i) const;
  Dims ints(int i) const;
  double number(int i) const;
  bool flag(int i) const;
  std::string text(int i) const;
  // Any plain argument as it was given.
  Arg raw(int i) const;
  const Op& op() const;

  // Takes the gradient of argument `i`: summed to its shape and cast to its dtype.
  void set(int i, const Tensor& gradient) { set(i, 0, gradient); }
  void set(int i, int k, const Tensor& gradient);
  std::vector<Tensor> take_gradients();

 private:
  friend void differentiate_decomposition(VjpContext&);
  OpNode& node_;
  std::vector<Tensor> grads_;
  std::vector<Tensor> input_grads_;  // one an edge; here, not in the node, which several threads may run at once
};

inline constexpr int kMostVjpArgs = 8;
struct VjpRule {
  void (*run)(VjpContext&);
  // Bit j of save_args[i]: the gradient of argument i reads argument j; of save_results[i]: reads result j.
  uint16_t save_args[kMostVjpArgs];
  uint8_t save_results[kMostVjpArgs];
};

const VjpRule& vjp_of(const Op& op);

// A gradient of which nothing has arrived yet.
Tensor zeros_of(const TensorMeta& meta);

// The rule of operators whose VJP follows from their decomposition.
void differentiate_decomposition(VjpContext& context);

}  // namespace fuselet
