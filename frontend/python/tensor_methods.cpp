// Methods of tensors that are no operators: questions, values, autograd.
#include <new>

#include "core/dispatch_state.h"
#include "core/ops/functions.h"
#include "core/recording.h"
#include "frontend/python/autograd_bindings.h"
#include "frontend/python/convert.h"
#include "frontend/python/dlpack.h"
#include "frontend/python/hooks.h"
#include "frontend/python/python_error.h"
#include "frontend/python/small_objects.h"
#include "frontend/python/tensor_data.h"
#include "frontend/python/tensor_object.h"
#include "frontend/python/tensor_slots.h"

namespace fuselet::python {
namespace {

// The optional argument `dim`; -1 marks none, which no wrapped dimension is.
bool read_dim(PyObject* args, int64_t& dim) {
  if (PyTuple_GET_SIZE(args) == 0 || PyTuple_GET_ITEM(args, 0) == Py_None) return false;
  if (!to_int(PyTuple_GET_ITEM(args, 0), dim)) throw TypeError("dim must be an int");
  return true;
}

PyObject* size(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unpack(self);
    int64_t dim;
    if (PyObject* named = kwargs ? PyDict_GetItemString(kwargs, "dim") : nullptr) {
      if (!to_int(named, dim)) throw TypeError("dim must be an int");
    } else if (!read_dim(args, dim)) {
      return wrap_size(t.sizes());
    }
    return PyLong_FromLongLong(t.size(dim));
  });
}

PyObject* stride(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unpack(self);
    int64_t dim;
    if (!read_dim(args, dim)) return wrap_ints(t.strides());
    return PyLong_FromLongLong(t.strides()[static_cast<size_t>(wrap_dim(dim, t.dim(), "stride"))].concrete());
  });
}

PyObject* dim(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromLongLong(unpack(self).dim()); });
}
PyObject* numel(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromLongLong(unpack(self).numel()); });
}
PyObject* element_size(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromSize_t(size_of(unpack(self).dtype())); });
}
PyObject* storage_offset(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromLongLong(unpack(self).impl()->offset().concrete()); });
}
PyObject* data_ptr(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromVoidPtr(unpack(self).raw_data()); });
}
PyObject* storage_bytes(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromSize_t(unpack(self).impl()->storage()->bytes()); });
}
PyObject* is_contiguous(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(unpack(self).is_contiguous()); });
}
PyObject* is_floating_point(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(is_float(unpack(self).dtype())); });
}
PyObject* item(PyObject* self, PyObject*) {
  return guarded([&] { return to_number(unpack(self)); });
}
PyObject* tolist(PyObject* self, PyObject*) {
  return guarded([&] { return to_nested(unpack(self)); });
}

PyObject* requires_grad_(PyObject* self, PyObject* args, PyObject* kwargs) {
  const char* kNames[] = {"requires_grad", nullptr};
  int on = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:requires_grad_", const_cast<char**>(kNames), &on)) return nullptr;
  return guarded([&] {
    Tensor t = unpack(self);
    t.requires_grad_(on);
    return wrap(t);
  });
}

PyObject* detach(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(detached(unpack(self))); });
}

PyObject* detach_(PyObject* self, PyObject*) {
  return guarded([&] {
    const Tensor& t = unpack(self);
    if (AutogradMeta* a = t.impl()->autograd()) {
      if (CompiledCall* call = dispatch_state().compiled_call; call && t.requires_grad()) call->refuse("detach_()");
      FUSELET_CHECK(!a->view_base, "detach_: a view cannot be detached in place; use detach()");
      a->grad_fn = nullptr;
      a->requires_grad = false;
    }
    return wrap(t);
  });
}

PyObject* register_hook(PyObject* self, PyObject* callable) {
  return guarded([&]() -> PyObject* {
    if (!PyCallable_Check(callable)) throw TypeError("register_hook: expected a callable");
    return PyLong_FromLongLong(unpack(self).register_hook(PythonHook{share(callable)}));
  });
}
PyObject* remove_hook(PyObject* self, PyObject* id) {
  return guarded([&]() -> PyObject* {
    int64_t i;
    if (!to_int(id, i)) throw TypeError("expected the id of a hook");
    unpack(self).remove_hook(i);
    Py_RETURN_NONE;
  });
}
PyObject* retain_grad(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    unpack(self).retain_grad();
    Py_RETURN_NONE;
  });
}

PyObject* repr(PyObject* self, PyObject*) {
  return guarded([&] {
    std::string text = to_string(unpack(self));
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  });
}

PyObject* is_same_memory(PyObject* self, PyObject* other) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(other)) throw TypeError("expected a Tensor");
    return PyBool_FromLong(unpack(self).impl()->storage() == unpack(other).impl()->storage());
  });
}

PyObject* dlpack_capsule(PyObject* self, PyObject* versioned) {
  return guarded([&] { return to_capsule(unpack(self), PyObject_IsTrue(versioned) == 1); });
}

PyMethodDef method(const char* name, PyCFunction f, int flags, const char* doc) { return {name, f, flags, doc}; }
PyCFunction keywords(PyCFunctionWithKeywords f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

}  // namespace

void append_plain_methods(std::vector<PyMethodDef>& methods) {
  const PyMethodDef all[] = {
      method("size", keywords(size), METH_VARARGS | METH_KEYWORDS,
             "size(dim=None)\n--\n\nAll sizes, or the size of one dimension."),
      method("stride", stride, METH_VARARGS, "Strides in elements, or that of one dimension."),
      method("dim", dim, METH_NOARGS, "The number of dimensions."),
      method("ndimension", dim, METH_NOARGS, "The number of dimensions."),
      method("numel", numel, METH_NOARGS, "The number of elements."),
      method("nelement", numel, METH_NOARGS, "The number of elements."),
      method("element_size", element_size, METH_NOARGS, "Bytes of an element."),
      method("storage_offset", storage_offset, METH_NOARGS,
             "Elements between the start of the memory and the first element."),
      method("data_ptr", data_ptr, METH_NOARGS, "Address of the first element."),
      method("_storage_bytes", storage_bytes, METH_NOARGS, "Bytes of the memory that this tensor is a view of."),
      method("is_contiguous", is_contiguous, METH_NOARGS, "Whether the elements lie in row-major order without gaps."),
      method("is_floating_point", is_floating_point, METH_NOARGS, "Whether the dtype is a floating one."),
      method("item", item, METH_NOARGS,
             "The one element as a Python number; RuntimeError for any other number of elements."),
      method("tolist", tolist, METH_NOARGS, "Nested lists of Python numbers."),
      method("requires_grad_", keywords(requires_grad_), METH_VARARGS | METH_KEYWORDS,
             "Switches recording for this leaf."),
      method("detach", detach, METH_NOARGS, "The same memory, and version counter, without history."),
      method("detach_", detach_, METH_NOARGS, "Drops the history of this tensor."),
      method("_register_hook", register_hook, METH_O, nullptr),
      method("_remove_hook", remove_hook, METH_O, nullptr),
      method("retain_grad", retain_grad, METH_NOARGS, "Keeps the gradient of a tensor with history in .grad."),
      method("_text", repr, METH_NOARGS, nullptr),
      method("_shares_memory", is_same_memory, METH_O, nullptr),
      method("_dlpack_capsule", dlpack_capsule, METH_O, nullptr),
  };
  methods.insert(methods.end(), std::begin(all), std::end(all));
}

}  // namespace fuselet::python
