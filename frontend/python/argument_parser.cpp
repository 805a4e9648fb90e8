#include "frontend/python/argument_parser.h"

#include <charconv>
#include <cstring>

#include "frontend/python/convert.h"
#include "frontend/python/python_error.h"
#include "frontend/python/small_objects.h"
#include "frontend/python/tensor_object.h"

namespace fuselet::python {
namespace {

const char* kind_name(ArgType type) {
  switch (type) {
    case ArgType::Tensor:
      return "a Tensor";
    case ArgType::Operand:
      return "a Tensor or a number";
    case ArgType::Tensors:
      return "a sequence of Tensors";
    case ArgType::Scalar:
      return "a number";
    case ArgType::Int:
      return "an int";
    case ArgType::Ints:
      return "an int or a sequence of ints";
    case ArgType::Float:
      return "a float";
    case ArgType::Bool:
      return "a bool";
    case ArgType::Text:
      return "a str";
    case ArgType::DType:
      return "a dtype";
    case ArgType::Device:
      return "a device";
    case ArgType::None:
      break;
  }
  return "nothing";
}

bool has_word(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

// "[1, 1]" to its numbers.
Dims parse_list(std::string_view text) {
  Dims out;
  size_t at = 0;
  while ((at = text.find_first_of("-0123456789", at)) != std::string_view::npos) {
    int64_t value = 0;
    at = static_cast<size_t>(std::from_chars(text.data() + at, text.data() + text.size(), value).ptr - text.data());
    out.push_back(value);
  }
  return out;
}

OwnedArg parse_default(const ArgSpec& spec) {
  std::string text = spec.default_text;
  if (text == "None") return std::monostate{};
  switch (spec.type) {
    case ArgType::Ints:
      return parse_list(text);
    case ArgType::Int:
      return SymInt(std::stoll(text));
    case ArgType::Float:
      return std::stod(text);
    case ArgType::Bool:
      return text == "True";
    case ArgType::Text:
      return text.substr(1, text.size() - 2);
    case ArgType::Scalar:
    case ArgType::Operand:
      return has_word(text, ".") || has_word(text, "e") ? Scalar(std::stod(text)) : Scalar(int64_t{std::stoll(text)});
    default:
      break;
  }
  throw InternalError(concat("the default ", text, " of argument ", spec.name, " has no meaning"), __FILE__, __LINE__);
}

// The last required argument, if it is a list of ints and the next one is not.
int find_spread(const Op& op) {
  int last = -1;
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (!op.args[i].default_text) last = static_cast<int>(i);
  }
  if (last < 0 || op.args[static_cast<size_t>(last)].type != ArgType::Ints) return -1;
  size_t next = static_cast<size_t>(last) + 1;
  return next < op.args.size() && op.args[next].type == ArgType::Ints ? -1 : last;
}

std::string signature_of(const Op& op) {
  std::string out = std::string(op.name) + "(";
  for (const ArgSpec& a : op.args) {
    if (out.back() != '(') out += ", ";
    out += a.name;
    if (a.default_text) out += std::string("=") + a.default_text;
  }
  return out + ")";
}

OpBinding make_binding(const Op& op) {
  OpBinding b;
  b.op = &op;
  FUSELET_INTERNAL_CHECK(op.args.size() <= ParsedArguments::kMaxArgs, concat(op.name, " has too many arguments"));
  for (const ArgSpec& a : op.args) {
    b.names.push_back(PyUnicode_InternFromString(a.name));
    b.owned_defaults.push_back(a.default_text ? parse_default(a) : OwnedArg());
    b.makes_tensors = b.makes_tensors || a.type == ArgType::Device;
  }
  for (const OwnedArg& owned : b.owned_defaults) b.defaults.push_back(view_of(owned));
  b.makes_tensors = b.makes_tensors || std::string_view(op.name).ends_with("_like");
  b.spread_at = find_spread(op);
  b.signature = signature_of(op);
  return b;
}

// An int or a NumPy integer, not an array or a tensor.
bool is_int_like(PyObject* o) {
  if (PyLong_Check(o)) return true;
  PyTypeObject* t = Py_TYPE(o);
  return t->tp_as_number && t->tp_as_number->nb_index && !(t->tp_as_mapping && t->tp_as_mapping->mp_length);
}

struct Alias {
  const char* given;
  const char* meant;
};
constexpr Alias kAliases[] = {{"input", "self"}, {"axis", "dim"},   {"keepdims", "keepdim"}, {"self", "input"},
                              {"dims", "dim"},   {"size", "shape"}, {"shape", "size"}};

}  // namespace

const OpBinding& binding_of(OpId id) {
  // The argument views point into the bindings themselves, so these never move.
  static const std::vector<OpBinding>* all = [] {
    auto* v = new std::vector<OpBinding>(static_cast<size_t>(kNumOps));
    for (const Op& op : all_ops()) {
      OpBinding& b = (*v)[static_cast<size_t>(op.id)];
      b = make_binding(op);
      b.defaults.clear();
      for (const OwnedArg& owned : b.owned_defaults) b.defaults.push_back(view_of(owned));
    }
    return v;
  }();
  return (*all)[static_cast<size_t>(id)];
}

ParsedArguments::~ParsedArguments() {
  for (int i = 0; i < used_; ++i) reinterpret_cast<Slot*>(storage_ + sizeof(Slot) * static_cast<size_t>(i))->~Slot();
}

void ParsedArguments::parse(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keyword_names) {
  const Op& op = *binding_.op;
  int total = static_cast<int>(op.args.size()), at = 0;
  if (self) convert(at++, self);
  for (Py_ssize_t p = 0; p < count; ++p) {
    if (at == binding_.spread_at && is_int_like(args[p])) {
      Py_ssize_t end = p;
      while (end < count && is_int_like(args[end])) ++end;
      if (end - p > 1) {
        Dims& dims = new_slot<Dims>();
        for (; p < end; ++p) {
          int64_t value = 0;
          to_int(args[p], value);
          dims.push_back(value);
        }
        args_[at] = Arg(DimsView(dims));
        given_ |= 1u << at++;
        --p;
        continue;
      }
    }
    if (at >= total) {
      throw TypeError(concat(op.name, "(): too many arguments: expected ", binding_.signature));
    }
    convert(at++, args[p]);
  }
  if (keyword_names) {
    Py_ssize_t named = PyTuple_GET_SIZE(keyword_names);
    for (Py_ssize_t k = 0; k < named; ++k) set_keyword(PyTuple_GET_ITEM(keyword_names, k), args[count + k]);
  }
  for (int i = 0; i < total; ++i) {
    if (given_ >> i & 1) continue;
    if (!op.args[static_cast<size_t>(i)].default_text && !op.args[static_cast<size_t>(i)].optional) {
      throw TypeError(concat(op.name, "(): argument '", op.args[static_cast<size_t>(i)].name, "' is missing: expected ",
                             binding_.signature));
    }
    args_[i] = binding_.defaults[static_cast<size_t>(i)];
  }
}

int ParsedArguments::index_of(PyObject* name) const {
  for (size_t i = 0; i < binding_.names.size(); ++i) {
    if (binding_.names[i] == name) return static_cast<int>(i);
  }
  const char* text = PyUnicode_AsUTF8(name);
  if (int i = binding_.op->arg_index(text); i >= 0) return i;
  for (const Alias& alias : kAliases) {
    if (std::strcmp(alias.given, text) != 0) continue;
    if (int i = binding_.op->arg_index(alias.meant); i >= 0) return i;
  }
  return -1;
}

void ParsedArguments::set_keyword(PyObject* name, PyObject* value) {
  int i = index_of(name);
  if (i >= 0) {
    if (given_ >> i & 1)
      throw TypeError(concat(binding_.op->name, "(): argument '", PyUnicode_AsUTF8(name), "' is given twice"));
    return convert(i, value);
  }
  std::string_view text = PyUnicode_AsUTF8(name);
  if (binding_.makes_tensors && text == "requires_grad") {
    requires_grad_ = PyObject_IsTrue(value) == 1;
  } else if (binding_.makes_tensors && text == "generator") {
    generator_ = value == Py_None ? nullptr : value;
  } else if (value == Py_None && text == "out") {
    // What NumPy's functions pass on to a method of the same name.
  } else {
    throw TypeError(concat(binding_.op->name, "(): unknown argument '", text, "': expected ", binding_.signature));
  }
}

void ParsedArguments::convert(int i, PyObject* value) {
  const ArgSpec& spec = binding_.op->args[static_cast<size_t>(i)];
  given_ |= 1u << i;
  if (is_tensor(value) && (spec.type == ArgType::Tensor || spec.type == ArgType::Operand)) {
    args_[i] = Arg(unpack(value));
    return;
  }
  if (value == Py_None && (spec.optional || spec.default_text)) {
    args_[i] = binding_.defaults[static_cast<size_t>(i)];
    return;
  }
  if (!convert_as(spec.type, i, value)) fail_kind(i, value);
}

bool ParsedArguments::convert_as(ArgType type, int i, PyObject* value) {
  switch (type) {
    case ArgType::None:
    case ArgType::Tensor:
      return false;
    case ArgType::Operand:
    case ArgType::Scalar: {
      Scalar& s = new_slot<Scalar>();
      if (is_tensor(value)) {
        const Tensor& t = unpack(value);
        s = is_float(t.dtype())        ? Scalar(t.item())
            : t.dtype() == DType::Bool ? Scalar(t.item() != 0)
                                       : Scalar(t.item_int());
      } else if (!to_scalar(value, s)) {
        return false;
      }
      args_[i] = Arg(s);
      return true;
    }
    case ArgType::Tensors: {
      if (!PySequence_Check(value) || is_tensor(value)) return false;
      ObjectRef items(PySequence_Fast(value, "expected a sequence of Tensors"));
      if (!items) throw PythonError();
      std::vector<Tensor>& list = new_slot<std::vector<Tensor>>();
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(items.get()); ++k) {
        PyObject* item = PySequence_Fast_GET_ITEM(items.get(), k);
        if (!is_tensor(item)) return false;
        list.push_back(unpack(item));
      }
      args_[i] = Arg(TensorList(list));
      return true;
    }
    case ArgType::Int: {
      int64_t v;
      if (!to_int(value, v)) return false;
      args_[i] = Arg(v);
      return true;
    }
    case ArgType::Ints: {
      Dims& dims = new_slot<Dims>();
      if (!to_dims(value, dims)) return false;
      args_[i] = Arg(DimsView(dims));
      return true;
    }
    case ArgType::Float: {
      double v;
      if (!to_double(value, v)) return false;
      args_[i] = Arg(v);
      return true;
    }
    case ArgType::Bool: {
      if (!PyBool_Check(value) && std::strncmp(Py_TYPE(value)->tp_name, "numpy.bool", 10) != 0) return false;
      args_[i] = Arg(PyObject_IsTrue(value) == 1);
      return true;
    }
    case ArgType::Text: {
      if (!PyUnicode_Check(value)) return false;
      args_[i] = Arg(PyUnicode_AsUTF8(value));
      return true;
    }
    case ArgType::DType:
      args_[i] = Arg(unpack_dtype(value));
      return true;
    case ArgType::Device:
      args_[i] = Arg(unpack_device(value));
      return true;
  }
  return false;
}

void ParsedArguments::fail_kind(int i, PyObject* value) const {
  const ArgSpec& spec = binding_.op->args[static_cast<size_t>(i)];
  throw TypeError(concat(binding_.op->name, "(): argument '", spec.name, "' must be ", kind_name(spec.type), ", got ",
                         Py_TYPE(value)->tp_name));
}

}  // namespace fuselet::python
