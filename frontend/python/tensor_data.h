// Elements between Python and tensors.
#pragma once
#include <Python.h>

#include <optional>

#include "core/tensor.h"

namespace fuselet::python {

// A number or nested sequences of numbers of equal lengths; a new tensor. Without a dtype: bool, int64 or the default
// floating dtype, by the widest number in it. Tensors of one element count as numbers. TypeError for anything else.
// Also inside a compiled function it is made at once: the function meets it as a tensor from outside.
Tensor tensor_from_nested(PyObject* data, std::optional<DType> dtype, Device device);
// An object with __array_interface__ (NumPy): a new tensor with its elements.
Tensor tensor_from_array(PyObject* array, Device device);
// The same, sharing the array's memory and keeping the array alive.
Tensor tensor_over_array(PyObject* array);

// Nested lists of Python numbers; one number for a 0-d tensor.
PyObject* to_nested(const Tensor& t);
// The one element as bool, int or float.
PyObject* to_number(const Tensor& t);

}  // namespace fuselet::python
