// Errors across the language border, both ways.
//
// A Python exception raised inside a hook travels through C++ as PythonError and comes out as the very same exception
// object. C++ errors become: Error -> RuntimeError, IndexError, TypeError, NotImplementedError of the same names,
// InternalError -> fuselet.InternalError, cuda::OutOfMemoryError -> fuselet.cuda.OutOfMemoryError (RuntimeErrors both),
// std::bad_alloc -> MemoryError.
#pragma once
#include <Python.h>

#include <exception>

#include "frontend/python/object_ref.h"

namespace fuselet::python {

class PythonError final : public std::exception {
 public:
  // Takes the exception that is set; needs the lock.
  PythonError();
  const char* what() const noexcept override { return "a Python exception in a callback"; }
  // Sets it again; needs the lock.
  void restore() const;

 private:
  SharedObject type_, value_, traceback_;
};

// Inside a catch block: sets the matching Python exception and returns nullptr.
PyObject* raise_current_exception() noexcept;
// Throws PythonError if `result` is nullptr.
inline PyObject* checked(PyObject* result) {
  if (!result) throw PythonError();
  return result;
}

extern PyObject* g_internal_error;
extern PyObject* g_out_of_memory_error;
// Adds the two classes to the module.
void add_error_classes(PyObject* module);

// Runs `f` and turns what it throws into a Python exception; `f` returns a new reference or nullptr.
template <class F>
PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    return raise_current_exception();
  }
}

}  // namespace fuselet::python
