#include "frontend/python/tensor_object.h"

#include <structmember.h>

#include <new>

#include "frontend/python/gil.h"
#include "frontend/python/hooks.h"
#include "frontend/python/python_error.h"
#include "frontend/python/tensor_slots.h"

namespace fuselet::python {

PyTypeObject* g_tensor_base = nullptr;
PyTypeObject* g_tensor_class = nullptr;

namespace {

void tensor_dealloc(PyObject* self);

bool has_something_to_lose(TensorObject* o) { return o->dict || o->weakrefs || Py_TYPE(o) != g_tensor_class; }

// Hands the object to its impl if C++ holds that one too; the object is then alive again.
bool change_hands(TensorObject* o) {
  TensorImpl* impl = o->tensor.impl();
  if (!impl || impl->use_count() == 1 || !has_something_to_lose(o)) return false;
  // A class whose deallocator is not ours (it overrides __init_subclass__) has been taken apart already.
  if (Py_TYPE(o)->tp_dealloc != tensor_dealloc) return false;
  Py_SET_REFCNT(reinterpret_cast<PyObject*>(o), 1);
  o->owner = impl;
  impl->owns_py_object = true;
  Tensor dropped = std::move(o->tensor);  // may be the last one by now: then the hook frees the object
  return true;
}

void forget(TensorObject* o) {
  if (o->tensor.defined() && o->tensor.impl()->py_object == o) o->tensor.impl()->py_object = nullptr;
}

// What `__slots__` of subclasses hold.
void clear_slots(PyObject* self) {
  for (PyTypeObject* t = Py_TYPE(self); t && t != g_tensor_base; t = t->tp_base) {
    for (PyMemberDef* m = t->tp_members; m && m->name; ++m) {
      if (m->type != T_OBJECT_EX || (m->flags & READONLY)) continue;
      PyObject** slot = reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + m->offset);
      Py_CLEAR(*slot);
    }
  }
}

void free_object(PyObject* self) {
  TensorObject* o = as_tensor_object(self);
  PyTypeObject* type = Py_TYPE(self);
  if (o->weakrefs) PyObject_ClearWeakRefs(self);
  clear_slots(self);
  Py_CLEAR(o->dict);
  o->tensor.~Tensor();
  type->tp_free(self);
  Py_DECREF(type);
}

void tensor_dealloc(PyObject* self) {
  TensorObject* o = as_tensor_object(self);
  if (change_hands(o)) return;
  forget(o);
  if (Py_TYPE(self)->tp_dealloc == tensor_dealloc && Py_TYPE(self)->tp_finalize) {
    if (PyObject_CallFinalizerFromDealloc(self) < 0) {
      if (o->tensor.defined()) o->tensor.impl()->py_object = o;
      return;
    }
  }
  PyObject_GC_UnTrack(self);
  Py_TRASHCAN_BEGIN(self, tensor_dealloc) free_object(self);
  Py_TRASHCAN_END
}

// An object that C++ holds too is a root: what it refers to stays.
int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  TensorObject* o = as_tensor_object(self);
  Py_VISIT(Py_TYPE(self));
  TensorImpl* impl = o->tensor.impl();
  if (impl && impl->use_count() > 1) return 0;
  Py_VISIT(o->dict);
  return impl ? visit_hooks(*impl, visit, arg) : 0;
}

int tensor_clear(PyObject* self) {
  TensorObject* o = as_tensor_object(self);
  Py_CLEAR(o->dict);
  if (TensorImpl* impl = o->tensor.impl(); impl && impl->use_count() == 1 && impl->autograd()) {
    auto hooks = std::move(impl->autograd()->hooks);
  }
  return 0;
}

// A class derived in Python gets CPython's deallocator, which would take the object apart before we could keep it.
PyObject* tensor_init_subclass(PyObject* cls, PyObject*, PyObject*) {
  reinterpret_cast<PyTypeObject*>(cls)->tp_dealloc = tensor_dealloc;
  Py_RETURN_NONE;
}

PyObject* tensor_new(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, "a TensorBase is not made by itself; use fuselet.tensor()");
  return nullptr;
}

// The impl of an object that a weak reference still holds: the same tensor under a new impl.
Tensor successor_of(TensorImpl& dying) {
  auto impl = make_intrusive<TensorImpl>(dying.storage(), Dims(dying.sizes()), Dims(dying.strides()), dying.offset(),
                                         dying.dtype());
  if (AutogradMeta* from = dying.autograd()) {
    AutogradMeta& to = impl->make_autograd();
    to.requires_grad = from->requires_grad;
    to.grad_fn = from->grad_fn;
    to.output_index = from->output_index;
    to.grad = from->grad;
    to.hooks = from->hooks;
  }
  return Tensor(std::move(impl));
}

// The impl dies and owned its object.
void release_object(void* object) {
  if (!can_take_gil()) return;
  GilAcquire gil;
  TensorObject* o = static_cast<TensorObject*>(object);
  if (Py_REFCNT(reinterpret_cast<PyObject*>(o)) > 1) {
    o->tensor = successor_of(*o->owner);
    o->tensor.impl()->py_object = o;
  }
  o->owner = nullptr;
  Py_DECREF(reinterpret_cast<PyObject*>(o));
}

PyMemberDef kMembers[] = {{"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
                          {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weakrefs), READONLY, nullptr},
                          {nullptr, 0, 0, 0, nullptr}};

PyMethodDef kInitSubclass = {"__init_subclass__",
                             reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(tensor_init_subclass)),
                             METH_VARARGS | METH_KEYWORDS | METH_CLASS, nullptr};

PyObject* allocate(PyTypeObject* cls, Tensor t) {
  PyObject* self = cls->tp_alloc(cls, 0);
  if (!self) throw PythonError();
  TensorObject* o = as_tensor_object(self);
  new (&o->tensor) Tensor(std::move(t));
  o->tensor.impl()->py_object = o;
  return self;
}

}  // namespace

void reclaim(TensorObject* o) {
  TensorImpl* impl = o->owner;
  // An impl whose count is zero is being destroyed on another thread, which waits for the lock in release_object().
  FUSELET_CHECK(impl->retain_if_alive(), "the tensor behind this weak reference is just being freed");
  o->tensor = Tensor(TensorImplPtr::adopt(impl));
  o->owner = nullptr;
  impl->owns_py_object = false;
  Py_DECREF(reinterpret_cast<PyObject*>(o));
}

PyObject* wrap(const Tensor& t) {
  TensorImpl* impl = t.impl();
  if (!impl) Py_RETURN_NONE;
  if (impl->py_object) {
    TensorObject* o = static_cast<TensorObject*>(impl->py_object);
    if (o->owner) {  // the impl's reference becomes the caller's
      o->tensor = t;
      o->owner = nullptr;
      impl->owns_py_object = false;
    } else {
      Py_INCREF(o);
    }
    return reinterpret_cast<PyObject*>(o);
  }
  return allocate(g_tensor_class, t);
}

PyObject* wrap_as(PyTypeObject* cls, Tensor t) { return allocate(cls, std::move(t)); }

void set_tensor_class(PyObject* cls) {
  Py_INCREF(cls);
  g_tensor_class = reinterpret_cast<PyTypeObject*>(cls);
}

PyTypeObject* make_tensor_base(PyObject* module) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, reinterpret_cast<void*>(tensor_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(tensor_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(tensor_clear)},
      {Py_tp_new, reinterpret_cast<void*>(tensor_new)},
      {Py_tp_members, kMembers},
      {Py_tp_methods, tensor_method_table(kInitSubclass)},
      {Py_tp_getset, tensor_property_table()},
  };
  append_number_slots(slots);
  append_indexing_slots(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"fuselet._C.TensorBase", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  PyObject* type = checked(PyType_FromSpec(&spec));
  g_tensor_base = g_tensor_class = reinterpret_cast<PyTypeObject*>(type);
  set_py_release_hook(release_object);
  Py_INCREF(type);
  PyModule_AddObject(module, "TensorBase", type);
  return g_tensor_base;
}

}  // namespace fuselet::python
