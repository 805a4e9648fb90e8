// The operator table as Python functions.
#pragma once
#include <Python.h>

namespace fuselet::python {

// Adds the rows meant for users to `module`, and the rest (gradients, optimizer steps) to `internal_module`.
void add_operator_functions(PyObject* module, PyObject* internal_module);

}  // namespace fuselet::python
