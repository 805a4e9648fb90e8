// Random generators as Python objects.
#pragma once
#include <pybind11/pybind11.h>

#include "core/generator.h"

namespace fuselet::python {

void add_generators(pybind11::module_& module);

// While it lives, a random operator draws from the given fuselet.Generator; TypeError for any other object.
class DrawFrom {
 public:
  explicit DrawFrom(PyObject* generator);

 private:
  ReplayDrawScope scope_;
};

}  // namespace fuselet::python
