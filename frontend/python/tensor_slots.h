// The parts of the TensorBase type, each made in its own file and assembled in tensor_object.cpp.
#pragma once
#include <Python.h>

#include <vector>

namespace fuselet::python {

// Methods of the operator table and those written by hand, with `init_subclass` in front; lives forever.
PyMethodDef* tensor_method_table(const PyMethodDef& init_subclass);
// Written by hand: item, tolist, backward, …; appended to `methods`.
void append_plain_methods(std::vector<PyMethodDef>& methods);
PyGetSetDef* tensor_property_table();
void append_number_slots(std::vector<PyType_Slot>& slots);
void append_indexing_slots(std::vector<PyType_Slot>& slots);

}  // namespace fuselet::python
