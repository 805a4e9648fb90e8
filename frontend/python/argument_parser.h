// Python arguments to the boxed arguments of an operator, by its row of the operator table.
//
// Accepted beside the row's own names: `input` for self, `other` for self's partner as PyTorch spells it, `axis` for
// dim, `keepdims` for keepdim. A list of sizes that is the last required argument may be given as separate ints:
// x.view(2, 3). None stands for an optional argument or for its default.
#pragma once
#include <Python.h>

#include <optional>
#include <variant>

#include "core/op.h"

namespace fuselet::python {

// What Python needs to know about an operator beyond its row.
struct OpBinding {
  const Op* op = nullptr;
  std::vector<PyObject*> names;  // interned
  std::vector<OwnedArg> owned_defaults;
  std::vector<Arg> defaults;
  int spread_at = -1;          // the argument that takes separate ints
  bool makes_tensors = false;  // accepts requires_grad and generator
  std::string signature;
};

const OpBinding& binding_of(OpId id);

class ParsedArguments {
 public:
  static constexpr int kMaxArgs = 16;

  explicit ParsedArguments(const OpBinding& binding) : binding_(binding) {}
  ~ParsedArguments();
  ParsedArguments(const ParsedArguments&) = delete;

  // As METH_FASTCALL | METH_KEYWORDS passes them; `self` comes first if given. Throws TypeError.
  void parse(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keyword_names);

  Arg* args() { return args_; }
  int size() const { return static_cast<int>(binding_.op->args.size()); }
  bool requires_grad() const { return requires_grad_; }
  // Borrowed; nullptr if none was given.
  PyObject* generator() const { return generator_; }

 private:
  // What an Arg of this call points at.
  using Slot = std::variant<Scalar, Dims, std::vector<Tensor>, Tensor>;
  template <class T>
  T& new_slot() {
    Slot* slot = new (storage_ + sizeof(Slot) * static_cast<size_t>(used_)) Slot(std::in_place_type<T>);
    ++used_;
    return *std::get_if<T>(slot);
  }
  void convert(int i, PyObject* value);
  bool convert_as(ArgType type, int i, PyObject* value);
  void set_keyword(PyObject* name, PyObject* value);
  int index_of(PyObject* name) const;
  [[noreturn]] void fail_kind(int i, PyObject* value) const;

  const OpBinding& binding_;
  Arg args_[kMaxArgs];
  uint32_t given_ = 0;
  int used_ = 0;
  bool requires_grad_ = false;
  PyObject* generator_ = nullptr;
  alignas(Slot) unsigned char storage_[sizeof(Slot) * kMaxArgs];
};

}  // namespace fuselet::python
