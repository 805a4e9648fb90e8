// Recordings for Python: record(), what it returns, and the graph as a value. fuselet/compiler.py is what users see.
#pragma once
#include <pybind11/pybind11.h>

namespace fuselet::python {

void add_recording(pybind11::module_& module);

}  // namespace fuselet::python
