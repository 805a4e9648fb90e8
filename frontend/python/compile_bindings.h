// Compiled functions for Python.
#pragma once
#include <pybind11/pybind11.h>

namespace fuselet::python {

void add_compile(pybind11::module_& module);

}  // namespace fuselet::python
