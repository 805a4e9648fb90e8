// The CUDA runtime for Python: fuselet._C.cuda, of which the package fuselet.cuda is made.
#pragma once
#include <pybind11/pybind11.h>

namespace fuselet::python {

void add_cuda(pybind11::module_& m);

}  // namespace fuselet::python
