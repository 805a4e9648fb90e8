#include "compiler/match/asked.h"

#include <bit>
#include <cstring>

#include "core/dispatch_state.h"

namespace fuselet::match {
namespace {

int64_t bits_of(double v) { return std::bit_cast<int64_t>(v); }
int64_t bits_of(Device d) { return std::bit_cast<uint16_t>(d); }

// Doubles hold these ints exactly.
bool is_exact_double(int64_t v) { return v > -(int64_t{1} << 53) && v < int64_t{1} << 53; }

class Comparison {
 public:
  Comparison(const Step& step, Handles& handles, std::vector<double>& numbers)
      : step_(step), handles_(handles), numbers_(numbers) {}

  bool tensor(Handle h, const Tensor& t) {
    if (h < handles_.size()) return handles_[h].impl() == t.impl();
    return handles_.bind(step_.outside[static_cast<size_t>(h - step_.first_handle)], t);
  }

  bool tensors(const ArgPattern& p, const Arg& arg) {
    for (uint32_t k = 0; k < p.count; ++k) {
      Handle h = step_.handles[p.first + k];
      if ((h == kUndefined) == arg.tensors[k].defined()) return false;
      if (h != kUndefined && !tensor(h, arg.tensors[k])) return false;
    }
    return true;
  }

  bool number(const ArgPattern& p, const Scalar& s) {
    if (p.role == NumberRole::AnyInt) {
      if (s.category() != Category::Int || !is_exact_double(s.to_int())) return false;
      numbers_.push_back(static_cast<double>(s.to_int()));
      return true;
    }
    if (s.category() != p.category) return false;
    if (p.category != Category::Float) return s.to_int() == p.bits;
    double v = s.peek();
    if (p.role != NumberRole::Compared) numbers_.push_back(v);
    return p.role == NumberRole::Input || bits_of(v) == p.bits;
  }

  bool argument(const ArgPattern& p, const Arg& arg) {
    if (p.tag != arg.tag) return false;
    switch (p.tag) {
      case Arg::Tag::None:
        return true;
      case Arg::Tag::Tensor:
        return tensor(static_cast<Handle>(p.bits), *arg.tensor);
      case Arg::Tag::Tensors:
        return p.count == arg.count && tensors(p, arg);
      case Arg::Tag::Scalar:
        return number(p, *arg.scalar);
      case Arg::Tag::Int:
        return arg.integer.word() == p.bits;
      case Arg::Tag::Ints:
        return p.count == arg.count && same_words(step_.ints.data() + p.first, arg.ints, p.count);
      case Arg::Tag::Float:
        return bits_of(arg.number) == p.bits;
      case Arg::Tag::Bool:
        return arg.flag == (p.bits != 0);
      case Arg::Tag::Text:
        return step_.texts[p.first] == arg.text;
      case Arg::Tag::DType:
        return static_cast<int64_t>(arg.dtype) == p.bits;
      case Arg::Tag::Device:
        return bits_of(arg.device) == p.bits;
    }
    return false;
  }

  // `.grad` of the leaves that a backward changes.
  bool leaf_grads() {
    for (const LeafGrad& g : step_.leaf_grads) {
      const AutogradMeta* a = handles_[g.leaf].impl()->autograd();
      bool none = !a || !a->grad;
      if (none != (g.before == kUndefined)) return false;
      if (!none && !tensor(g.before, Tensor(a->grad))) return false;
    }
    return true;
  }

 private:
  static bool same_words(const SymInt* a, const SymInt* b, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      if (a[i].word() != b[i].word()) return false;
    }
    return true;
  }

  const Step& step_;
  Handles& handles_;
  std::vector<double>& numbers_;
};

std::string text_of(const Arg& arg, const Handles& handles) {
  switch (arg.tag) {
    case Arg::Tag::None:
      return "None";
    case Arg::Tag::Tensor: {
      const Tensor& t = *arg.tensor;
      return concat(text_of(form_of(t)), t.requires_grad() ? " that requires grad" : "",
                    handles.find(t) == kUndefined ? "" : concat(" (tensor ", handles.find(t), ")"));
    }
    case Arg::Tag::Tensors:
      return concat("a list of ", arg.count, " tensors");
    case Arg::Tag::Scalar:
      return arg.scalar->category() == Category::Float  ? concat("the float ", arg.scalar->peek())
             : arg.scalar->category() == Category::Bool ? (arg.scalar->to_int() ? "True" : "False")
                                                        : concat("the int ", arg.scalar->to_int());
    case Arg::Tag::Int:
      return to_string(arg.integer);
    case Arg::Tag::Ints:
      return to_string(DimsView{arg.ints, arg.count});
    case Arg::Tag::Float:
      return concat(arg.number);
    case Arg::Tag::Bool:
      return arg.flag ? "True" : "False";
    case Arg::Tag::Text:
      return concat("'", arg.text, "'");
    case Arg::Tag::DType:
      return std::string(name_of(arg.dtype));
    case Arg::Tag::Device:
      return to_string(arg.device);
  }
  return "";
}

std::string text_of(const ArgPattern& p, const Step& step, const Handles& handles) {
  auto with_tensor = [&](Handle h) -> std::string {
    if (h >= step.first_handle && h - step.first_handle < static_cast<Handle>(step.outside.size())) {
      const OutsideTensor& o = step.outside[static_cast<size_t>(h - step.first_handle)];
      std::string kind = o.requires_grad ? " that requires grad" : "";
      return concat(text_of(o.form), kind, ", strides ", to_string(o.form.strides), ", new to the call");
    }
    return concat(text_of(form_of(handles[h])), " (tensor ", h, ")");
  };
  double number = std::bit_cast<double>(p.bits);
  switch (p.tag) {
    case Arg::Tag::None:
      return "None";
    case Arg::Tag::Tensor:
      return with_tensor(static_cast<Handle>(p.bits));
    case Arg::Tag::Tensors:
      return concat("a list of ", p.count, " other tensors");
    case Arg::Tag::Scalar:
      if (p.role == NumberRole::AnyInt) return "an int";
      return p.category == Category::Float  ? concat("the float ", number)
             : p.category == Category::Bool ? (p.bits ? "True" : "False")
                                            : concat("the int ", p.bits);
    case Arg::Tag::Int:
      return concat(p.bits);
    case Arg::Tag::Ints:
      return to_string(DimsView{step.ints.data() + p.first, p.count});
    case Arg::Tag::Float:
      return concat(number);
    case Arg::Tag::Bool:
      return p.bits ? "True" : "False";
    case Arg::Tag::Text:
      return concat("'", step.texts[p.first], "'");
    case Arg::Tag::DType:
      return std::string(name_of(static_cast<DType>(p.bits)));
    case Arg::Tag::Device:
      return to_string(std::bit_cast<Device>(static_cast<uint16_t>(p.bits)));
  }
  return "";
}

// True iff some tensor of the call is floating, so that an int counts by its value alone.
bool joins_floats(const Asked& asked) {
  if (asked.kind != StepKind::Operator || asked.op->kind != OpKind::Pointwise) return false;
  for (const Arg& arg : asked.args) {
    if (arg.tag == Arg::Tag::Tensor && is_float(arg.tensor->dtype())) return true;
  }
  return false;
}

// Numbers that a shape follows from are compared: another number is another program.
bool decides_shape(const Op& op) { return op.id == OpId::arange; }

// An int that was another one in an earlier path becomes an input of this one.
bool changes_by_call(size_t arg, const Asked& asked, const Step& before, const Step* siblings) {
  const Scalar& now = *asked.args[arg].scalar;
  if (now.category() != Category::Int || !is_exact_double(now.to_int()) || !joins_floats(asked)) return false;
  // One that has changed further up most likely is the same number.
  for (const Step* s = &before; s; s = s->parent) {
    for (const ArgPattern& p : s->args) {
      if (p.tag == Arg::Tag::Scalar && p.role == NumberRole::AnyInt) return true;
    }
  }
  for (const Step* s = siblings; s; s = s->sibling) {
    if (s->op != asked.op || s->args.size() != asked.args.size()) continue;
    const ArgPattern& was = s->args[arg];
    if (was.tag == Arg::Tag::Scalar && was.category == Category::Int && was.bits != now.to_int()) return true;
  }
  return false;
}

}  // namespace

bool matches(const Step& step, const Asked& asked, Handles& handles, std::vector<double>& numbers) {
  if (step.op != asked.op || step.kind != asked.kind || step.in_place != asked.in_place ||
      !(step.ambient == asked.ambient) || step.args.size() != asked.args.size())
    return false;
  Comparison compare(step, handles, numbers);
  bool same = true;
  for (size_t i = 0; same && i < asked.args.size(); ++i) same = compare.argument(step.args[i], asked.args[i]);
  if (same && !step.leaf_grads.empty()) same = compare.leaf_grads();
  if (!same) {
    handles.truncate(step.first_handle);
    numbers.resize(static_cast<size_t>(step.first_scalar));
  }
  return same;
}

Handle handle_or_bind(StepPattern& step, const Tensor& t, Handles& handles) {
  Handle known = handles.find(t);
  if (known != kUndefined) return known;
  if (t.impl()->is_deferred()) {
    throw NotImplementedError(
        "compile: a value that this call of the compiled function did not make itself, or made without an operator, "
        "is used while it has no memory yet");
  }
  step.outside.push_back(handles.describe(t));
  handles.add_outside(t, step.outside.back().group);
  return handles.size() - 1;
}

StepPattern pattern_of(const Asked& asked, const Step& before, const Step* siblings, Handles& handles,
                       std::vector<double>& numbers) {
  StepPattern step;
  step.kind = asked.kind;
  step.op = asked.op;
  step.in_place = asked.in_place;
  step.ambient = asked.ambient;
  step.first_handle = handles.size();
  step.first_scalar = static_cast<int32_t>(numbers.size());
  for (size_t i = 0; i < asked.args.size(); ++i) {
    const Arg& arg = asked.args[i];
    ArgPattern p;
    p.tag = arg.tag;
    p.count = 0;
    switch (arg.tag) {
      case Arg::Tag::None:
        break;
      case Arg::Tag::Tensor:
        p.bits = handle_or_bind(step, *arg.tensor, handles);
        break;
      case Arg::Tag::Tensors:
        p.first = static_cast<uint32_t>(step.handles.size());
        p.count = arg.count;
        for (uint32_t k = 0; k < arg.count; ++k) {
          const Tensor& t = arg.tensors[k];
          step.handles.push_back(t.defined() ? handle_or_bind(step, t, handles) : kUndefined);
        }
        break;
      case Arg::Tag::Scalar:
        p.category = arg.scalar->category();
        p.bits = p.category == Category::Float ? bits_of(arg.scalar->peek()) : arg.scalar->to_int();
        if (!decides_shape(*asked.op) &&
            (p.category == Category::Float || changes_by_call(i, asked, before, siblings))) {
          p.role = p.category == Category::Float ? NumberRole::Input : NumberRole::AnyInt;
          p.first = static_cast<uint32_t>(numbers.size());
          numbers.push_back(arg.scalar->peek());
          const CellPtr& cell = arg.scalar->cell();
          step.scalar_names.push_back(cell ? cell->name() : asked.op->args[i].name);
        }
        break;
      case Arg::Tag::Int:
        p.bits = arg.integer.word();
        break;
      case Arg::Tag::Ints:
        p.first = static_cast<uint32_t>(step.ints.size());
        p.count = arg.count;
        step.ints.insert(step.ints.end(), arg.ints, arg.ints + arg.count);
        break;
      case Arg::Tag::Float:
        p.bits = bits_of(arg.number);
        break;
      case Arg::Tag::Bool:
        p.bits = arg.flag;
        break;
      case Arg::Tag::Text:
        p.first = static_cast<uint32_t>(step.texts.size());
        step.texts.emplace_back(arg.text);
        break;
      case Arg::Tag::DType:
        p.bits = static_cast<int64_t>(arg.dtype);
        break;
      case Arg::Tag::Device:
        p.bits = bits_of(arg.device);
        break;
    }
    step.args.push_back(p);
  }
  return step;
}

std::string difference(const Step& step, const Asked& asked, const Handles& handles) {
  std::string was = name_of(step.kind, step.op), now = name_of(asked.kind, asked.op);
  if (was != now || step.in_place != asked.in_place)
    return concat("is ", now, asked.in_place ? " in place" : "", ", was ", was, step.in_place ? " in place" : "");
  if (step.ambient.grad_enabled != asked.ambient.grad_enabled)
    return concat("grad mode is ", asked.ambient.grad_enabled ? "on" : "off");
  if (step.ambient.default_dtype != asked.ambient.default_dtype)
    return concat("the default dtype is ", name_of(asked.ambient.default_dtype), ", was ",
                  name_of(step.ambient.default_dtype));
  if (!(step.ambient.default_device == asked.ambient.default_device)) return "another default device";
  if (step.ambient.float32_matmul != asked.ambient.float32_matmul)
    return concat("the float32 matmul precision is ", name_of(asked.ambient.float32_matmul), ", was ",
                  name_of(step.ambient.float32_matmul));
  Handles trial = handles;
  std::vector<double> numbers(static_cast<size_t>(step.first_scalar));
  Comparison compare(step, trial, numbers);
  for (size_t i = 0; i < step.args.size() && i < asked.args.size(); ++i) {
    if (compare.argument(step.args[i], asked.args[i])) continue;
    std::string name = step.op ? concat(" '", step.op->args[i].name, "'") : "";
    std::string a = text_of(asked.args[i], trial), b = text_of(step.args[i], step, trial);
    return concat("argument ", i, name, " is ", a, ", was ", b);
  }
  return "the .grad of a leaf was set, or was not";
}

}  // namespace fuselet::match
