// Writing through index tensors, for index_put_: what x[…] = value does, or adding up.
#pragma once
#include <Python.h>

#include "core/tensor.h"

namespace fuselet::python {

// index: a tuple as x[…] takes it, with at least one index tensor or mask. `values` broadcast; with `accumulate` they
// are added, in index order, else the last of equal indices wins.
void index_put(const Tensor& self, PyObject* index, const Tensor& values, bool accumulate);

}  // namespace fuselet::python
