// A call with some of its arguments replaced, to be recorded in the place of the original.
#pragma once
#include <vector>

#include "core/ops/functions.h"

namespace fuselet {

class EditedCall {
 public:
  explicit EditedCall(const Call& call)
      : op_(*call.op), args_(call.args, call.args + call.num_args), tensors_(args_.size()), scalars_(args_.size()) {}

  void set(int i, Tensor t) {
    tensors_[static_cast<size_t>(i)] = std::move(t);
    replace(i, Arg(tensors_[static_cast<size_t>(i)]));
  }
  void set(int i, Scalar s) {
    scalars_[static_cast<size_t>(i)] = std::move(s);
    replace(i, Arg(scalars_[static_cast<size_t>(i)]));
  }
  // Casts argument i if it is a tensor of another dtype.
  void cast(int i, DType to) {
    const Arg& arg = args_[static_cast<size_t>(i)];
    if (arg.tag == Arg::Tag::Tensor && arg.tensor->dtype() != to) set(i, arg.tensor->cast(to));
  }
  void remove(int i) { replace(i, Arg()); }

  bool changed() const { return changed_; }
  // What the operator's shape rule says of the first result.
  TensorMeta meta() {
    TensorMeta m;
    op_.shape(Call{&op_, args_.data(), static_cast<int>(args_.size()), nullptr, 0}, &m);
    return m;
  }
  // The first result.
  Tensor run() { return call_operator(op_, args_, false, Location::current())[0]; }

 private:
  void replace(int i, Arg arg) {
    args_[static_cast<size_t>(i)] = arg;
    changed_ = true;
  }

  const Op& op_;
  std::vector<Arg> args_;
  std::vector<Tensor> tensors_;
  std::vector<Scalar> scalars_;
  bool changed_ = false;
};

}  // namespace fuselet
