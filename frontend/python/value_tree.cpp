#include "frontend/python/value_tree.h"

#include <bit>

#include "frontend/python/python_error.h"
#include "frontend/python/tensor_object.h"

namespace fuselet::python {
namespace {

bool is_constant(PyObject* o) {
  return o == Py_None || PyBool_Check(o) || PyLong_CheckExact(o) || PyUnicode_CheckExact(o);
}

bool equal(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  int same = PyObject_RichCompareBool(a, b, Py_EQ);
  if (same < 0) throw PythonError();
  return same == 1;
}

PyObject* const* items_of(PyObject* sequence) {
  return PyTuple_CheckExact(sequence) ? &PyTuple_GET_ITEM(sequence, 0)
                                      : reinterpret_cast<PyListObject*>(sequence)->ob_item;
}

}  // namespace

bool ValueTree::add_entries(PyObject* const* items, Py_ssize_t count, std::vector<Tensor>* tensors) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!add(items[i], tensors)) return false;
  }
  return true;
}

bool ValueTree::add(PyObject* o, std::vector<Tensor>* tensors) {
  if (is_tensor(o)) {
    nodes_.push_back({Kind::Tensor, 0, 0, ObjectRef::borrow(reinterpret_cast<PyObject*>(Py_TYPE(o)))});
    tensors->push_back(unpack(o));
    return true;
  }
  if (PyFloat_CheckExact(o)) {
    nodes_.push_back({Kind::Number, 0, PyFloat_AS_DOUBLE(o), ObjectRef::borrow(o)});
    return true;
  }
  if (is_constant(o)) {
    nodes_.push_back({Kind::Constant, 0, 0, ObjectRef::borrow(o)});
    return true;
  }
  if (PyTuple_CheckExact(o) || PyList_CheckExact(o)) {
    Py_ssize_t count = PySequence_Fast_GET_SIZE(o);
    nodes_.push_back({PyTuple_CheckExact(o) ? Kind::Tuple : Kind::List, count, 0, {}});
    return add_entries(items_of(o), count, tensors);
  }
  if (!PyDict_CheckExact(o)) return false;
  nodes_.push_back({Kind::Dict, PyDict_GET_SIZE(o), 0, ObjectRef(checked(PyDict_Keys(o)))});
  Py_ssize_t position = 0;
  PyObject *key, *value;
  while (PyDict_Next(o, &position, &key, &value)) {
    if (!is_constant(key) || !add(value, tensors)) return false;
  }
  return true;
}

bool ValueTree::matches(PyObject* o, size_t* at, std::vector<Tensor>* tensors) const {
  const Node& node = nodes_[(*at)++];
  switch (node.kind) {
    case Kind::Tensor:
      if (reinterpret_cast<PyObject*>(Py_TYPE(o)) != node.object.get()) return false;
      tensors->push_back(unpack(o));
      return true;
    case Kind::Number:
      return PyFloat_CheckExact(o) &&
             std::bit_cast<int64_t>(PyFloat_AS_DOUBLE(o)) == std::bit_cast<int64_t>(node.number);
    case Kind::Constant:
      return equal(o, node.object.get());
    case Kind::Tuple:
    case Kind::List: {
      bool same_kind = node.kind == Kind::Tuple ? PyTuple_CheckExact(o) : PyList_CheckExact(o);
      if (!same_kind || PySequence_Fast_GET_SIZE(o) != node.count) return false;
      PyObject* const* items = items_of(o);
      for (Py_ssize_t i = 0; i < node.count; ++i) {
        if (!matches(items[i], at, tensors)) return false;
      }
      return true;
    }
    case Kind::Dict: {
      if (!PyDict_CheckExact(o) || PyDict_GET_SIZE(o) != node.count) return false;
      Py_ssize_t position = 0;
      PyObject *key, *value;
      for (Py_ssize_t i = 0; PyDict_Next(o, &position, &key, &value); ++i) {
        if (!equal(key, PyList_GET_ITEM(node.object.get(), i)) || !matches(value, at, tensors)) return false;
      }
      return true;
    }
  }
  return false;
}

PyObject* ValueTree::build(size_t* at, const std::vector<Tensor>& tensors, size_t* tensor) const {
  const Node& node = nodes_[(*at)++];
  switch (node.kind) {
    case Kind::Tensor:
      return wrap(tensors[(*tensor)++]);
    case Kind::Number:
    case Kind::Constant:
      Py_INCREF(node.object.get());
      return node.object.get();
    case Kind::Tuple: {
      ObjectRef tuple(checked(PyTuple_New(node.count)));
      for (Py_ssize_t i = 0; i < node.count; ++i) PyTuple_SET_ITEM(tuple.get(), i, build(at, tensors, tensor));
      return tuple.release();
    }
    case Kind::List: {
      ObjectRef list(checked(PyList_New(node.count)));
      for (Py_ssize_t i = 0; i < node.count; ++i) PyList_SET_ITEM(list.get(), i, build(at, tensors, tensor));
      return list.release();
    }
    case Kind::Dict: {
      ObjectRef dict(checked(PyDict_New()));
      for (Py_ssize_t i = 0; i < node.count; ++i) {
        ObjectRef value(build(at, tensors, tensor));
        if (PyDict_SetItem(dict.get(), PyList_GET_ITEM(node.object.get(), i), value.get()) < 0) throw PythonError();
      }
      return dict.release();
    }
  }
  return nullptr;
}

bool ValueTree::holds_only_plain_tensors() const {
  for (const Node& node : nodes_) {
    if (node.kind == Kind::Tensor && node.object.get() != reinterpret_cast<PyObject*>(g_tensor_class)) return false;
  }
  return true;
}

}  // namespace fuselet::python
