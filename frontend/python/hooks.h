// Python callables as gradient hooks.
#pragma once
#include <Python.h>

#include "core/tensor.h"
#include "frontend/python/object_ref.h"

namespace fuselet::python {

// A TensorHook: calls `callable` with the gradient; None keeps it, a tensor replaces it. An exception travels as
// PythonError.
struct PythonHook {
  SharedObject callable;
  Tensor operator()(const Tensor& gradient) const;
};

// Visits the callables hooked on a leaf, for the garbage collector.
int visit_hooks(const TensorImpl& impl, visitproc visit, void* arg);

}  // namespace fuselet::python
