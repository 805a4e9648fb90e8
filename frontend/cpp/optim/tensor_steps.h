// What optimizers written in tensor operators share. Numbers that change between steps reach the operators as host
// cells or as 0-d float64 tensors made of them, so that a recording reads them anew on every run. 16-bit parameters are
// updated in float32 and rounded once, as is their state.
#pragma once
#include <utility>

#include "frontend/cpp/optim/optimizer.h"

namespace fuselet::optim {

// The tensor in the dtype that it is computed in.
Tensor wide(const Tensor& t);
// The cell's number as a 0-d float64 tensor on the device of `like`.
Tensor number(const CellPtr& cell, const Tensor& like);
// base^exponent for a base in [0, 1) and a 0-d exponent of at least 1.
Tensor power(double base, const Tensor& exponent);
// The gradient g of p as a step takes it: wide, negated to maximize, with weight_decay p added.
Tensor direction(const Tensor& g, const Tensor& p, double weight_decay, bool maximize);
// p -= lr weight_decay p: decay apart from the gradient.
void shrink(Tensor p, double weight_decay, const CellPtr& lr);
// average = keep average + (1 - keep) value; returns it before it is rounded.
Tensor take_in(Tensor average, const Tensor& value, double keep);

// An optimizer whose groups have Options, among them lr, and state tensors of the given names.
template <class Options>
class TensorOptimizer : public Optimizer {
 protected:
  TensorOptimizer(std::string kind, std::vector<const char*> slots)
      : Optimizer(std::move(kind)), slots_(std::move(slots)) {}
  void add(Group<Options> group) {
    add_group(std::move(group.parameters), group.options.lr, slots_.size());
    options_.push_back(std::move(group.options));
  }
  const Options& options(size_t group) const { return options_[group]; }
  const char* slot_name(size_t slot) const override { return slots_[slot]; }

 private:
  std::vector<const char*> slots_;
  std::vector<Options> options_;
};

}  // namespace fuselet::optim
