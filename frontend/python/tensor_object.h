// The Python object of a tensor, and the rule that keeps one object to one tensor.
//
// While Python holds the object, the object holds the TensorImpl, which points back (borrowed). When the last Python
// reference goes and C++ still holds the impl, an object that has something to lose (a subclass, attributes, weak
// references) changes hands: the impl owns it and the object only remembers the impl. wrap() or a use through a weak
// reference turns that round again. A plain object is freed, and the next wrap() makes a new one: nobody can tell.
//
// Every function needs the interpreter lock.
#pragma once
#include <Python.h>

#include "core/tensor.h"

namespace fuselet::python {

struct TensorObject {
  PyObject_HEAD Tensor tensor;
  TensorImpl* owner;  // set iff the impl owns this object; `tensor` is then empty
  PyObject* dict;
  PyObject* weakrefs;
};

extern PyTypeObject* g_tensor_base;
// The Python class of new tensors: fuselet.Tensor once the package has registered it.
extern PyTypeObject* g_tensor_class;
void set_tensor_class(PyObject* cls);
PyTypeObject* make_tensor_base(PyObject* module);

inline TensorObject* as_tensor_object(PyObject* o) { return reinterpret_cast<TensorObject*>(o); }
inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == g_tensor_class || PyObject_TypeCheck(o, g_tensor_base); }

// Makes the object hold the impl again, after a weak reference has brought it back.
void reclaim(TensorObject* object);

// The tensor of an object that is_tensor(); valid while the caller holds the object.
inline const Tensor& unpack(PyObject* o) {
  TensorObject* object = as_tensor_object(o);
  if (object->owner) [[unlikely]]
    reclaim(object);
  return object->tensor;
}

// A new reference to the object of `t`; None for an undefined tensor.
PyObject* wrap(const Tensor& t);
// A new object of class `cls` (derived from TensorBase) for a tensor that has none yet.
PyObject* wrap_as(PyTypeObject* cls, Tensor t);

}  // namespace fuselet::python
