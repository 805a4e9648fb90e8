// Lets pybind11 functions take and return tensors, lists of them, dtypes and devices.
#pragma once
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "frontend/python/small_objects.h"
#include "frontend/python/tensor_object.h"

namespace pybind11::detail {

// None is the undefined tensor.
template <>
struct type_caster<fuselet::Tensor> {
  PYBIND11_TYPE_CASTER(fuselet::Tensor, const_name("Tensor"));
  bool load(handle source, bool) {
    if (source.is_none()) return true;
    if (!fuselet::python::is_tensor(source.ptr())) return false;
    value = fuselet::python::unpack(source.ptr());
    return true;
  }
  static handle cast(const fuselet::Tensor& t, return_value_policy, handle) { return fuselet::python::wrap(t); }
};

template <>
struct type_caster<fuselet::DType> {
  PYBIND11_TYPE_CASTER(fuselet::DType, const_name("dtype"));
  bool load(handle source, bool) {
    try {
      value = fuselet::python::unpack_dtype(source.ptr());
    } catch (const fuselet::TypeError&) {
      return false;
    }
    return true;
  }
  static handle cast(fuselet::DType t, return_value_policy, handle) { return fuselet::python::wrap_dtype(t); }
};

}  // namespace pybind11::detail
