#include "frontend/python/convert.h"

#include <cstring>

#include "core/error.h"
#include "frontend/python/python_error.h"
#include "frontend/python/tensor_object.h"

namespace fuselet::python {
namespace {

CellPtr (*g_cell_reader)(PyObject*) = nullptr;

int64_t checked_int(PyObject* o) {
  long long v = PyLong_AsLongLong(o);
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  return v;
}

bool is_numpy_bool(PyObject* o) {
  const char* name = Py_TYPE(o)->tp_name;
  return std::strcmp(name, "numpy.bool_") == 0 || std::strcmp(name, "numpy.bool") == 0;
}

// Arrays and tensors have a length or an index of their own, but are no numbers here.
bool is_number_like(PyObject* o) {
  if (is_tensor(o)) return false;
  PyTypeObject* t = Py_TYPE(o);
  if (t->tp_as_mapping && t->tp_as_mapping->mp_length) return false;
  return t->tp_as_number && (t->tp_as_number->nb_index || t->tp_as_number->nb_float);
}

}  // namespace

void set_cell_reader(CellPtr (*reader)(PyObject*)) { g_cell_reader = reader; }

bool to_scalar(PyObject* o, Scalar& out) {
  if (PyFloat_Check(o)) {
    out = Scalar(PyFloat_AS_DOUBLE(o));
    return true;
  }
  if (PyBool_Check(o)) {
    out = Scalar(o == Py_True);
    return true;
  }
  if (PyLong_Check(o)) {
    out = Scalar(checked_int(o));
    return true;
  }
  if (is_numpy_bool(o)) {
    out = Scalar(PyObject_IsTrue(o) == 1);
    return true;
  }
  if (g_cell_reader) {
    if (CellPtr cell = g_cell_reader(o)) {
      out = Scalar(std::move(cell));
      return true;
    }
  }
  if (!is_number_like(o)) return false;
  if (int64_t i; to_int(o, i)) {
    out = Scalar(i);
    return true;
  }
  double d = PyFloat_AsDouble(o);
  if (d == -1 && PyErr_Occurred()) throw PythonError();
  out = Scalar(d);
  return true;
}

bool to_int(PyObject* o, int64_t& out) {
  if (PyLong_Check(o)) {
    out = checked_int(o);
    return true;
  }
  if (!PyIndex_Check(o)) return false;
  if (is_tensor(o) && (unpack(o).dim() != 0 || is_float(unpack(o).dtype()))) return false;
  ObjectRef index(PyNumber_Index(o));
  if (!index) {
    PyErr_Clear();  // an array of many elements
    return false;
  }
  out = checked_int(index.get());
  return true;
}

bool to_double(PyObject* o, double& out) {
  if (PyFloat_Check(o)) {
    out = PyFloat_AS_DOUBLE(o);
    return true;
  }
  Scalar s;
  if (!to_scalar(o, s)) return false;
  out = s.to_double();
  return true;
}

bool to_dims(PyObject* o, Dims& out) {
  out.clear();
  int64_t single;
  if (PyTuple_Check(o) || PyList_Check(o)) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (!to_int(PySequence_Fast_GET_ITEM(o, i), single)) return false;
      out.push_back(single);
    }
    return true;
  }
  if (to_int(o, single)) {
    out.push_back(single);
    return true;
  }
  if (is_tensor(o) || PyUnicode_Check(o) || !PySequence_Check(o)) return false;
  ObjectRef list(PySequence_List(o));
  if (!list) throw PythonError();
  return to_dims(list.get(), out);
}

PyObject* wrap_scalar(const Scalar& s) {
  switch (s.category()) {
    case Category::Bool:
      return PyBool_FromLong(s.to_int() != 0);
    case Category::Int:
      return PyLong_FromLongLong(s.to_int());
    case Category::Float:
      return PyFloat_FromDouble(s.to_double());
  }
  Py_RETURN_NONE;
}

}  // namespace fuselet::python
