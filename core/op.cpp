#include "core/op.h"

#include <unordered_map>

namespace fuselet {

OwnedArg own(const Arg& arg) {
  switch (arg.tag) {
    case Arg::Tag::None:
      return std::monostate{};
    case Arg::Tag::Tensor:
      return *arg.tensor;
    case Arg::Tag::Scalar:
      return *arg.scalar;
    case Arg::Tag::Int:
      return arg.integer;
    case Arg::Tag::Ints:
      return Dims(DimsView{arg.ints, arg.count});
    case Arg::Tag::Tensors:
      return std::vector<Tensor>(arg.tensors, arg.tensors + arg.count);
    case Arg::Tag::Float:
      return arg.number;
    case Arg::Tag::Bool:
      return arg.flag;
    case Arg::Tag::Text:
      return std::string(arg.text);
    case Arg::Tag::DType:
      return arg.dtype;
    case Arg::Tag::Device:
      return arg.device;
  }
  throw InternalError("an argument has no kind", __FILE__, __LINE__);
}

Arg view_of(const OwnedArg& owned) {
  struct Visitor {
    Arg operator()(std::monostate) const { return Arg(); }
    Arg operator()(const Tensor& t) const { return Arg(t); }
    Arg operator()(const Scalar& s) const { return Arg(s); }
    Arg operator()(SymInt i) const { return Arg(i); }
    Arg operator()(const Dims& d) const { return Arg(DimsView(d)); }
    Arg operator()(const std::vector<Tensor>& v) const { return Arg(TensorList(v)); }
    Arg operator()(double d) const { return Arg(d); }
    Arg operator()(bool b) const { return Arg(b); }
    Arg operator()(const std::string& s) const { return Arg(s.c_str()); }
    Arg operator()(DType t) const { return Arg(t); }
    Arg operator()(Device d) const { return Arg(d); }
  };
  return std::visit(Visitor{}, owned);
}

int Op::arg_index(std::string_view arg_name) const {
  for (size_t i = 0; i < args.size(); ++i) {
    if (arg_name == args[i].name) return static_cast<int>(i);
  }
  return -1;
}

const Op* find_op(std::string_view name) {
  static const auto* by_name = [] {
    auto* map = new std::unordered_map<std::string_view, const Op*>();
    for (const Op& op : all_ops()) map->emplace(op.name, &op);
    return map;
  }();
  auto it = by_name->find(name);
  return it == by_name->end() ? nullptr : it->second;
}

int count_outputs(const Call& call) {
  int n = call.op->num_returns;
  for (size_t i = 0; i < call.op->args.size(); ++i) {
    if (!call.op->args[i].mutated) continue;
    n += call.args[i].tag == Arg::Tag::Tensors ? static_cast<int>(call.args[i].count) : 1;
  }
  return n;
}

std::vector<Tensor> mutated_tensors(const Call& call) {
  std::vector<Tensor> out;
  bool marked = false;
  for (size_t i = 0; i < call.op->args.size(); ++i) {
    if (!call.op->args[i].mutated) continue;
    marked = true;
    if (call.args[i].tag == Arg::Tag::Tensors) {
      out.insert(out.end(), call.args[i].tensors, call.args[i].tensors + call.args[i].count);
    } else {
      out.push_back(call.tensor(static_cast<int>(i)));
    }
  }
  if (!marked) out.push_back(call.tensor(0));  // the in-place form of a functional operator writes its first argument
  return out;
}

}  // namespace fuselet
