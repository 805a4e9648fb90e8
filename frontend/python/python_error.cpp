#include "frontend/python/python_error.h"

#include <new>

#include "core/error.h"
#include "frontend/python/gil.h"

namespace fuselet::python {

PyObject* g_internal_error = nullptr;

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

void add_internal_error(PyObject* module) {
  g_internal_error = PyErr_NewExceptionWithDoc("fuselet.InternalError", "A defect of fuselet itself; please report it.",
                                               PyExc_RuntimeError, nullptr);
  Py_XINCREF(g_internal_error);
  PyModule_AddObject(module, "InternalError", g_internal_error);
}

}  // namespace fuselet::python
