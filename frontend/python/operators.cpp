// Every operator of the table as a Python function and method: one small C function each, instantiated over the table.
#include "frontend/python/operators.h"

#include <array>
#include <string>
#include <utility>

#include "core/generator.h"
#include "frontend/python/argument_parser.h"
#include "frontend/python/generators.h"
#include "frontend/python/python_error.h"
#include "frontend/python/run_operator.h"
#include "frontend/python/tensor_object.h"
#include "frontend/python/tensor_slots.h"

namespace fuselet::python {
namespace {

PyObject* call_bound(OpId id, PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names, bool in_place) {
  return guarded([&]() -> PyObject* {
    const OpBinding& binding = binding_of(id);
    ParsedArguments parsed(binding);
    parsed.parse(self, args, count, names);
    PyObject* result;
    if (parsed.generator()) {
      DrawFrom draws(parsed.generator());
      result = run_and_wrap(*binding.op, parsed.args(), parsed.size(), in_place);
    } else {
      result = run_and_wrap(*binding.op, parsed.args(), parsed.size(), in_place);
    }
    if (parsed.requires_grad()) {
      Tensor t = unpack(result);
      t.requires_grad_(true);
    }
    return result;
  });
}

template <size_t I>
PyObject* as_function(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return call_bound(static_cast<OpId>(I), nullptr, args, count, names, false);
}
template <size_t I>
PyObject* as_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return call_bound(static_cast<OpId>(I), self, args, count, names, false);
}
template <size_t I>
PyObject* as_in_place(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return call_bound(static_cast<OpId>(I), self, args, count, names, true);
}

using FastCall = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

struct Entries {
  std::array<FastCall, kNumOps> functions, methods, in_place;
};

template <size_t... I>
constexpr Entries make_entries(std::index_sequence<I...>) {
  return {{as_function<I>...}, {as_method<I>...}, {as_in_place<I>...}};
}
constexpr Entries kEntries = make_entries(std::make_index_sequence<kNumOps>());

bool mutates(const Op& op) {
  for (const ArgSpec& a : op.args) {
    if (a.mutated) return true;
  }
  return false;
}

// Texts that method tables point at; they live as long as the process.
const char* keep(std::string text) { return (new std::string(std::move(text)))->c_str(); }

// What the row says of shapes, dtypes, memory, derivatives and errors.
std::string facts_of(const Op& op) {
  std::string out;
  int operands = 0;
  bool names_dimension = false;
  for (const ArgSpec& a : op.args) {
    operands += a.type == ArgType::Tensor || a.type == ArgType::Operand;
    names_dimension |= std::string_view(a.name).starts_with("dim");
  }
  if (op.kind == OpKind::Pointwise && operands > 1) out += "Shapes broadcast. ";
  if (op.promotion == Promotion::Same) {
    out += operands > 1 ? "The result has the promoted dtype. " : "The result has the dtype of self. ";
  }
  if (op.promotion == Promotion::Float)
    out += "The result has the promoted dtype; integers become the default floating dtype. ";
  if (op.promotion == Promotion::Bool) out += "The result is bool. ";
  if (op.kind == OpKind::View) out += "A view: it shares the memory of self. ";
  if (op.kind == OpKind::Random) out += "Takes one draw of the generator. ";
  if (operands > 0 && op.kind != OpKind::Composite)
    out += op.differentiable ? "Differentiable. " : "Not differentiable. ";
  if (operands > 0) out += "RuntimeError where shapes or dtypes do not fit";
  if (names_dimension) out += ", IndexError for a dimension out of range";
  return operands > 0 ? out + "." : out;
}

// The signature line that inspect reads, then the row's doc, facts and schema.
const char* doc_of(const Op& op, const char* given_name, bool method, bool in_place) {
  std::string name = std::string(given_name) + (in_place ? "_" : "");
  std::string out = name + "(" + (method ? "$self" : "$module");
  for (size_t i = method ? 1 : 0; i < op.args.size(); ++i) {
    out += std::string(", ") + op.args[i].name;
    if (op.args[i].default_text) out += std::string("=") + op.args[i].default_text;
  }
  out += ")\n--\n\n" + std::string(op.doc);
  if (in_place) out += " Written into self, which is returned.";
  if (std::string_view(given_name) != op.name)
    out += std::string(" ") + given_name + "() is " + op.name + "() under another name.";
  if (std::string facts = facts_of(op); !facts.empty()) out += "\n\n" + facts;
  return keep(out + "\n\n" + op.schema);
}

PyMethodDef entry(const char* name, FastCall f, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f)), METH_FASTCALL | METH_KEYWORDS, doc};
}

template <size_t I>
PyObject* as_mutating_function(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return call_bound(static_cast<OpId>(I), nullptr, args, count, names, true);
}
template <size_t... I>
constexpr std::array<FastCall, kNumOps> make_mutating(std::index_sequence<I...>) {
  return {as_mutating_function<I>...};
}
constexpr std::array<FastCall, kNumOps> kMutating = make_mutating(std::make_index_sequence<kNumOps>());

}  // namespace

void add_operator_functions(PyObject* module, PyObject* internal_module) {
  auto* functions = new std::vector<PyMethodDef>();
  auto* internal = new std::vector<PyMethodDef>();
  for (const Op& op : all_ops()) {
    size_t i = static_cast<size_t>(op.id);
    auto& table = op.is_function ? *functions : *internal;
    table.push_back(
        entry(op.name, mutates(op) ? kMutating[i] : kEntries.functions[i], doc_of(op, op.name, false, false)));
    for (const char* alias : op.aliases)
      table.push_back(entry(alias, kEntries.functions[i], doc_of(op, alias, false, false)));
  }
  functions->push_back({nullptr, nullptr, 0, nullptr});
  internal->push_back({nullptr, nullptr, 0, nullptr});
  PyModule_AddFunctions(module, functions->data());
  PyModule_AddFunctions(internal_module, internal->data());
}

PyMethodDef* tensor_method_table(const PyMethodDef& init_subclass) {
  auto* methods = new std::vector<PyMethodDef>{init_subclass};
  for (const Op& op : all_ops()) {
    size_t i = static_cast<size_t>(op.id);
    std::vector<const char*> names{op.name};
    names.insert(names.end(), op.aliases.begin(), op.aliases.end());
    for (const char* name : names) {
      if (op.is_method) methods->push_back(entry(name, kEntries.methods[i], doc_of(op, name, true, false)));
      if (op.in_place_form && !mutates(op)) {
        methods->push_back(entry(keep(std::string(name) + "_"), kEntries.in_place[i], doc_of(op, name, true, true)));
      }
    }
  }
  append_plain_methods(*methods);
  methods->push_back({nullptr, nullptr, 0, nullptr});
  return methods->data();
}

}  // namespace fuselet::python
