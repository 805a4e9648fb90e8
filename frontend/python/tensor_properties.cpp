// Attributes of tensors: geometry and autograd state.
#include "autograd/grad_node.h"
#include "core/dispatch_state.h"
#include "core/recording.h"
#include "frontend/python/autograd_bindings.h"
#include "frontend/python/python_error.h"
#include "frontend/python/run_operator.h"
#include "frontend/python/small_objects.h"
#include "frontend/python/tensor_object.h"
#include "frontend/python/tensor_slots.h"

namespace fuselet::python {
namespace {

PyObject* shape(PyObject* self, void*) {
  return guarded([&] { return wrap_size(unpack(self).sizes()); });
}
PyObject* ndim(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromLongLong(unpack(self).dim()); });
}
PyObject* dtype(PyObject* self, void*) {
  return guarded([&] { return wrap_dtype(unpack(self).dtype()); });
}
PyObject* device(PyObject* self, void*) {
  return guarded([&] { return wrap_device(unpack(self).device()); });
}
PyObject* requires_grad(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(unpack(self).requires_grad()); });
}
int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded([&]() -> PyObject* {
    if (!value || !PyBool_Check(value)) throw TypeError("requires_grad must be a bool");
    Tensor t = unpack(self);
    t.requires_grad_(value == Py_True);
    return Py_None;
  })
             ? 0
             : -1;
}
PyObject* grad(PyObject* self, void*) {
  return guarded([&] { return wrap(unpack(self).grad()); });
}
int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded([&]() -> PyObject* {
    bool none = !value || value == Py_None;
    if (!none && !is_tensor(value))
      throw TypeError(concat("grad must be a Tensor or None, got ", Py_TYPE(value)->tp_name));
    Tensor t = unpack(self);
    t.set_grad(none ? Tensor() : unpack(value));
    return Py_None;
  })
             ? 0
             : -1;
}
PyObject* grad_fn(PyObject* self, void*) {
  return guarded([&] { return wrap_node(gradient_edge(unpack(self)).node); });
}
PyObject* retains_grad(PyObject* self, void*) {
  return guarded([&] {
    const AutogradMeta* a = unpack(self).impl()->autograd();
    return PyBool_FromLong(a && a->retained);
  });
}
PyObject* is_leaf(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(unpack(self).is_leaf()); });
}
PyObject* version(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromUnsignedLong(unpack(self).version()); });
}
PyObject* is_read_only(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(unpack(self).impl()->storage()->is_read_only()); });
}

// The same memory without history, sharing the version counter too.
PyObject* data(PyObject* self, void*) {
  return guarded([&] { return wrap(detached(unpack(self))); });
}
// Takes over memory and geometry of `value`; identity and autograd state stay.
int set_data(PyObject* self, PyObject* value, void*) {
  return guarded([&]() -> PyObject* {
    if (!value || !is_tensor(value)) throw TypeError("data must be a Tensor");
    if (CompiledCall* call = dispatch_state().compiled_call) call->refuse("assigning to .data");
    const TensorImpl* from = unpack(value).impl();
    FUSELET_CHECK(!unpack(self).requires_grad() || is_float(from->dtype()),
                  "data: a tensor that requires grad cannot become ", name_of(from->dtype()));
    unpack(self).impl()->set_data(from->storage(), Dims(from->sizes()), Dims(from->strides()), from->offset(),
                                  from->dtype());
    return Py_None;
  })
             ? 0
             : -1;
}

// The last two dimensions exchanged, or (T) all of them reversed.
PyObject* matrix_transpose(PyObject* self, void* all) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unpack(self);
    int64_t rank = t.dim();
    FUSELET_CHECK(all || rank >= 2, "mT: expected at least two dimensions, got shape ", to_string(t.sizes()));
    Dims order;
    for (int64_t d = 0; d < rank; ++d) order.push_back(all ? rank - 1 - d : d);
    if (!all) std::swap(order[static_cast<size_t>(rank) - 1], order[static_cast<size_t>(rank) - 2]);
    Arg args[] = {Arg(t), Arg(DimsView(order))};
    return run_and_wrap(op_of(OpId::permute), args, 2, false);
  });
}

PyObject* attributes(PyObject* self, void* closure) { return PyObject_GenericGetDict(self, closure); }

char kAllDimensions;

PyGetSetDef kProperties[] = {
    {"shape", shape, nullptr, "The sizes, as fuselet.Size.", nullptr},
    {"ndim", ndim, nullptr, "The number of dimensions.", nullptr},
    {"dtype", dtype, nullptr, "The element type.", nullptr},
    {"device", device, nullptr, "Where the elements live.", nullptr},
    {"requires_grad", requires_grad, set_requires_grad, "Whether gradients flow to this tensor.", nullptr},
    {"grad", grad, set_grad, "The gradient that backward() has accumulated, or None.", nullptr},
    {"grad_fn", grad_fn, nullptr, "The tape's node that this tensor comes from; None for a leaf.", nullptr},
    {"is_leaf", is_leaf, nullptr, "Whether the tensor has no history.", nullptr},
    {"retains_grad", retains_grad, nullptr, "Whether .grad keeps the gradient of this tensor with history.", nullptr},
    {"data", data, set_data, "The same memory without history.", nullptr},
    {"_version", version, nullptr, "How often the memory has been written in place.", nullptr},
    {"_is_read_only", is_read_only, nullptr, "Whether the memory belongs to another library that forbids writing.",
     nullptr},
    {"T", matrix_transpose, nullptr, "All dimensions reversed.", &kAllDimensions},
    {"mT", matrix_transpose, nullptr, "The last two dimensions exchanged.", nullptr},
    {"__dict__", attributes, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyGetSetDef* tensor_property_table() { return kProperties; }

}  // namespace fuselet::python
