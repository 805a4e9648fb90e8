// What a compilation left, for Python.
#pragma once
#include <pybind11/pybind11.h>

namespace fuselet::python {

void add_reports(pybind11::module_& m);

}  // namespace fuselet::python
