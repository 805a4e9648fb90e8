// Owned references to Python objects.
// ObjectRef is made, copied and dropped with the interpreter lock held. SharedObject may be copied and dropped on any
// thread, with or without the lock: C++ closures (hooks, foreign memory) hold their Python objects through it.
#pragma once
#include <Python.h>

#include <memory>
#include <utility>

namespace fuselet::python {

class ObjectRef {
 public:
  ObjectRef() = default;
  // Takes over a new reference; nullptr stays empty.
  explicit ObjectRef(PyObject* owned) : object_(owned) {}
  static ObjectRef borrow(PyObject* object) {
    Py_XINCREF(object);
    return ObjectRef(object);
  }
  ObjectRef(const ObjectRef& o) : object_(o.object_) { Py_XINCREF(object_); }
  ObjectRef(ObjectRef&& o) noexcept : object_(std::exchange(o.object_, nullptr)) {}
  ObjectRef& operator=(ObjectRef o) noexcept {
    std::swap(object_, o.object_);
    return *this;
  }
  ~ObjectRef() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Gives the reference to the caller.
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  PyObject* object_ = nullptr;
};

using SharedObject = std::shared_ptr<PyObject>;
// A new reference to `object`; needs the lock.
SharedObject share(PyObject* object);

}  // namespace fuselet::python
