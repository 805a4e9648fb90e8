// The operator table's row, the call of an operator, and its arguments.
//
// Rows come from core/ops/*.toml through core/ops/generate.py. A row's functions live in the layer that owns them:
// shape rules in core, VJPs in autograd, decompositions in compiler, kernels and references in backends. The generated
// tables name every function that a row promises, so a missing one does not link.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/args.h"
#include "core/device.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/ops/op_ids.h"
#include "core/scalar.h"
#include "core/shape.h"
#include "core/tensor.h"

namespace fuselet {

enum class ArgType : uint8_t { None, Tensor, Operand, Tensors, Scalar, Int, Ints, Float, Bool, Text, DType, Device };

// One argument of a call; a view, valid during the call.
struct Arg {
  enum class Tag : uint8_t { None, Tensor, Scalar, Int, Ints, Tensors, Float, Bool, Text, DType, Device };
  Tag tag = Tag::None;
  uint32_t count = 0;
  union {
    const Tensor* tensor;
    const Scalar* scalar;
    const SymInt* ints;
    const Tensor* tensors;
    const char* text;
    SymInt integer;
    double number;
    bool flag;
    DType dtype;
    Device device;
  };

  Arg() : tensor(nullptr) {}
  Arg(const Tensor& t) : tag(t.defined() ? Tag::Tensor : Tag::None), tensor(&t) {}
  Arg(const Scalar& s) : tag(Tag::Scalar), scalar(&s) {}
  Arg(const Operand& o) : tag(o.tensor() ? Tag::Tensor : Tag::Scalar) {
    if (o.tensor()) {
      tensor = o.tensor();
    } else {
      scalar = &o.scalar();
    }
  }
  Arg(SymInt i) : tag(Tag::Int), integer(i) {}
  Arg(int64_t i) : Arg(SymInt(i)) {}
  Arg(double d) : tag(Tag::Float), number(d) {}
  Arg(bool b) : tag(Tag::Bool), flag(b) {}
  Arg(const char* s) : tag(Tag::Text), text(s) {}
  Arg(DType t) : tag(Tag::DType), dtype(t) {}
  Arg(Device d) : tag(Tag::Device), device(d) {}
  Arg(DimsView v) : tag(Tag::Ints), count(static_cast<uint32_t>(v.size())), ints(v.data()) {}
  Arg(const IntList& v) : Arg(v.view()) {}
  Arg(TensorList v) : tag(Tag::Tensors), count(static_cast<uint32_t>(v.view().size())), tensors(v.view().data()) {}
  template <class T>
  Arg(const std::optional<T>& v) : Arg() {
    if (v) *this = Arg(*v);
  }
};

// An argument that a tape node or a graph node keeps.
using OwnedArg = std::variant<std::monostate, Tensor, Scalar, SymInt, Dims, std::vector<Tensor>, double, bool,
                              std::string, DType, Device>;
OwnedArg own(const Arg& arg);
Arg view_of(const OwnedArg& arg);

struct TensorMeta {
  Dims sizes;
  Dims strides;
  SymInt offset = 0;  // views only
  DType dtype = DType::Float32;
  Device device;
};

struct Op;

struct Call {
  const Op* op;
  Arg* args;
  int num_args;
  Tensor* outs;
  int num_outs;
  // The leading outputs are the mutated arguments themselves.
  bool in_place = false;
  const Location* line = nullptr;

  bool has(int i) const { return args[i].tag != Arg::Tag::None; }
  bool is_tensor(int i) const { return args[i].tag == Arg::Tag::Tensor; }
  const Tensor& tensor(int i) const { return *args[i].tensor; }
  const Scalar& scalar(int i) const { return *args[i].scalar; }
  std::span<const Tensor> tensors(int i) const { return {args[i].tensors, args[i].count}; }
  SymInt sym(int i) const { return args[i].integer; }
  int64_t integer(int i) const { return args[i].integer.concrete(); }
  DimsView ints(int i) const { return {args[i].ints, args[i].count}; }
  double number(int i) const { return args[i].number; }
  bool flag(int i) const { return args[i].flag; }
  const char* text(int i) const { return args[i].text; }
  DType dtype_or(int i, DType otherwise) const { return has(i) ? args[i].dtype : otherwise; }
  Device device_or(int i, Device otherwise) const { return has(i) ? args[i].device : otherwise; }
};

enum class OpKind : uint8_t {
  Pointwise,
  Reduction,
  View,
  Scan,
  Factory,
  Random,
  Gather,
  Scatter,
  Join,
  Contraction,
  Fused,
  Optimizer,
  Composite
};
enum class Promotion : uint8_t { None, Same, Float, Bool };
// How autocast treats the operator: lower precision, float32, the widest of the inputs, or as it stands.
enum class CastPolicy : uint8_t { None, Lower, Float32, Promote };

struct ArgSpec {
  const char* name;
  ArgType type;
  bool optional;  // None is accepted
  bool mutated;   // marked (a!)
  bool keyword_only;
  const char* default_text;  // nullptr: required
};

struct Op {
  OpId id;
  const char* name;
  const char* schema;
  const char* doc;
  std::span<const ArgSpec> args;
  int num_returns;  // fixed outputs; mutated lists come on top
  bool returns_list;
  OpKind kind;
  Promotion promotion;
  int promote_from;  // arguments before it take no part in promotion
  CastPolicy cast;
  bool differentiable;
  bool in_place_form;  // `name_` exists
  bool is_function;    // Python: fuselet.name
  bool is_method;      // Python: Tensor.name
  // Writes one meta for each output; throws Error on wrong shapes or dtypes.
  void (*shape)(const Call&, TensorMeta*);
  // Composite operators run through others and never reach a backend.
  void (*composite)(Call&);
  // Of a pointwise operator: its function in core/formulas. Else nullptr.
  const char* formula;
  // Where tests draw the operands of a pointwise operator from.
  double domain_low, domain_high;
  // Its tensors may lie on different devices; the results lie on its Device argument, else on the first tensor's
  // device.
  bool crosses_devices;
  // Pointwise, on integers and bools alone.
  bool integers_only;
  // Other names of the same function, method and in-place form.
  std::span<const char* const> aliases;

  int arg_index(std::string_view arg_name) const;
};

const Op& op_of(OpId id);
std::span<const Op> all_ops();
// nullptr if there is none.
const Op* find_op(std::string_view name);

// Number of outputs of a call: mutated tensors (lists count each) plus returns.
int count_outputs(const Call& call);
// The mutated tensors of an in-place call, in order.
std::vector<Tensor> mutated_tensors(const Call& call);
// Calls f(tensor) for each tensor argument, lists included.
template <class F>
void for_each_tensor(const Call& call, F&& f) {
  for (int i = 0; i < call.num_args; ++i) {
    if (call.args[i].tag == Arg::Tag::Tensor) f(*call.args[i].tensor);
    if (call.args[i].tag == Arg::Tag::Tensors) {
      for (uint32_t k = 0; k < call.args[i].count; ++k) f(call.args[i].tensors[k]);
    }
  }
}

}  // namespace fuselet
