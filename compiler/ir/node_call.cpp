#include "compiler/ir/node_call.h"

namespace fuselet::ir {

Tensor stand_in(const TensorMeta& meta) {
  auto storage = make_intrusive<Storage>(Storage::Deferred{}, meta.device);
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), meta.sizes, meta.strides, 0, meta.dtype));
}

NodeCall::NodeCall(const Node& node, const std::vector<Tensor>& values, const std::vector<CellPtr>* cells) {
  const Op& op = op_of(node.op);
  size_t n = node.args.size();
  args_.resize(n);
  scalars_.resize(n);
  lists_.resize(n);
  auto at = [&](ValueRef v) -> const Tensor& { return values[static_cast<size_t>(v.id)]; };
  for (size_t i = 0; i < n; ++i) {
    const GraphArg& arg = node.args[i];
    if (auto* v = std::get_if<ValueRef>(&arg)) {
      args_[i] = Arg(at(*v));
    } else if (auto* list = std::get_if<std::vector<ValueRef>>(&arg)) {
      for (ValueRef v : *list) lists_[i].push_back(at(v));
      args_[i] = Arg(TensorList(lists_[i]));
    } else if (auto* cell = std::get_if<CellRef>(&arg)) {
      if (cells) scalars_[i] = Scalar((*cells)[static_cast<size_t>(cell->index)]);
      args_[i] = Arg(scalars_[i]);
    } else if (auto* s = std::get_if<Scalar>(&arg)) {
      args_[i] = Arg(*s);
    } else if (auto* k = std::get_if<SymInt>(&arg)) {
      args_[i] = Arg(*k);
    } else if (auto* d = std::get_if<Dims>(&arg)) {
      args_[i] = Arg(DimsView(*d));
    } else if (auto* f = std::get_if<double>(&arg)) {
      args_[i] = Arg(*f);
    } else if (auto* b = std::get_if<bool>(&arg)) {
      args_[i] = Arg(*b);
    } else if (auto* text = std::get_if<std::string>(&arg)) {
      args_[i] = Arg(text->c_str());
    } else if (auto* t = std::get_if<DType>(&arg)) {
      args_[i] = Arg(*t);
    } else if (auto* device = std::get_if<Device>(&arg)) {
      args_[i] = Arg(*device);
    }
  }
  outputs_.resize(node.outputs.size());
  call_ =
      Call{&op, args_.data(), static_cast<int>(n), outputs_.data(), static_cast<int>(outputs_.size()), false, nullptr};
}

// Kept as the tape keeps them.
GraphArg plain_argument(const Arg& arg) {
  return std::visit(
      [](auto&& kept) -> GraphArg {
        using T = std::decay_t<decltype(kept)>;
        if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, std::vector<Tensor>>) {
          throw InternalError("a tensor argument is no plain one", __FILE__, __LINE__);
        } else {
          return std::move(kept);
        }
      },
      own(arg));
}

}  // namespace fuselet::ir
