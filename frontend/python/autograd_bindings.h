// Tape nodes, custom functions, and the backward entry points for Python.
#pragma once
#include <pybind11/pybind11.h>

#include "autograd/grad_node.h"

namespace fuselet::python {

void add_autograd(pybind11::module_& module);

// fuselet.autograd.Node, or None.
PyObject* wrap_node(const GradNodePtr& node);
// The same memory under a new tensor without history.
Tensor detached(const Tensor& t);

}  // namespace fuselet::python
