// The Python objects of dtypes, devices and sizes.
#pragma once
#include <Python.h>

#include "core/device.h"
#include "core/dtype.h"
#include "core/shape.h"

namespace fuselet::python {

// Adds the types `dtype` and `device`, and one dtype object for each DType under its name.
void add_small_objects(PyObject* module);

// New references. A dtype is one object for ever.
PyObject* wrap_dtype(DType dtype);
PyObject* wrap_device(Device device);
bool is_dtype(PyObject* o);
DType unpack_dtype(PyObject* o);
bool is_device(PyObject* o);
Device unpack_device(PyObject* o);

// fuselet.Size, a subclass of tuple that the package registers.
void set_size_class(PyObject* cls);
PyObject* wrap_size(DimsView sizes);
// A plain tuple of ints.
PyObject* wrap_ints(DimsView values);

}  // namespace fuselet::python
