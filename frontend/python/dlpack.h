// DLPack: tensors to and from other libraries without a copy.
//
// Exports fold the offset into the data pointer (byte_offset 0, for some consumers ignore it); strides are in elements.
// The consumer calls the deleter; a capsule that nobody consumed frees its tensor itself. An import keeps the
// producer's memory until the last view is gone, then calls its deleter, if it has one, once, on whichever thread that
// is.
#pragma once
#include <Python.h>

#include "core/tensor.h"

namespace fuselet::python {

// "dltensor_versioned" (which can say that memory is read-only) or "dltensor".
PyObject* to_capsule(const Tensor& t, bool versioned);
// Consumes the capsule: it is renamed, and a second call fails.
Tensor from_capsule(PyObject* capsule);

}  // namespace fuselet::python
