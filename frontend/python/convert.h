// Python values to the argument types of operators. Each throws TypeError for a value of a wrong kind.
#pragma once
#include <Python.h>

#include "core/scalar.h"
#include "core/shape.h"

namespace fuselet::python {

// bool, int, float, NumPy scalars and host cells. False (and no exception) for anything else.
bool to_scalar(PyObject* o, Scalar& out);
// An int or what has __index__; false for anything else, floats included.
bool to_int(PyObject* o, int64_t& out);
bool to_double(PyObject* o, double& out);
// An int, or a sequence of ints.
bool to_dims(PyObject* o, Dims& out);

// The Python type of host cells, which the module registers.
void set_cell_reader(CellPtr (*reader)(PyObject*));

// The number itself as Python shows it: bool, int or float.
PyObject* wrap_scalar(const Scalar& s);

}  // namespace fuselet::python
