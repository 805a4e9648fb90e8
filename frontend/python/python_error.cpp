#include "frontend/python/python_error.h"

#include <new>

#include "core/error.h"
#include "frontend/python/gil.h"
#include "fuselet/cuda.h"

namespace fuselet::python {

PyObject* g_internal_error = nullptr;
PyObject* g_out_of_memory_error = nullptr;

SharedObject share(PyObject* object) {
  Py_XINCREF(object);
  return SharedObject(object, [](PyObject* held) {
    if (!held || !can_take_gil()) return;
    GilAcquire gil;
    Py_DECREF(held);
  });
}

PythonError::PythonError() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  ObjectRef t(type), v(value), tb(traceback);
  type_ = share(type);
  value_ = share(value);
  traceback_ = share(traceback);
}

void PythonError::restore() const {
  if (!type_) {
    PyErr_SetString(PyExc_SystemError, "a callback failed without an exception");
    return;
  }
  PyErr_Restore(ObjectRef::borrow(type_.get()).release(), ObjectRef::borrow(value_.get()).release(),
                ObjectRef::borrow(traceback_.get()).release());
}

PyObject* raise_current_exception() noexcept {
  try {
    throw;
  } catch (const PythonError& e) {
    e.restore();
  } catch (const IndexError& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const NotImplementedError& e) {
    PyErr_SetString(PyExc_NotImplementedError, e.what());
  } catch (const cuda::OutOfMemoryError& e) {
    PyErr_SetString(g_out_of_memory_error, e.what());
  } catch (const InternalError& e) {
    PyErr_SetString(g_internal_error, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(g_internal_error, "an unknown C++ exception");
  }
  return nullptr;
}

void add_error_classes(PyObject* module) {
  auto add = [module](const char* name, const char* full_name, const char* doc) {
    PyObject* made = PyErr_NewExceptionWithDoc(full_name, doc, PyExc_RuntimeError, nullptr);
    Py_XINCREF(made);
    PyModule_AddObject(module, name, made);
    return made;
  };
  g_internal_error = add("InternalError", "fuselet.InternalError", "A defect of fuselet itself; please report it.");
  g_out_of_memory_error = add("OutOfMemoryError", "fuselet.cuda.OutOfMemoryError",
                              "A CUDA device has no memory left, also after cached memory was given back.");
}

}  // namespace fuselet::python
