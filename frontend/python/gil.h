// The interpreter lock as scopes.
#pragma once
#include <Python.h>

namespace fuselet::python {

// False once the interpreter shuts down and this thread does not hold the lock: Python objects are then left alone.
inline bool can_take_gil() {
  if (!Py_IsInitialized()) return false;
#if PY_VERSION_HEX >= 0x030D0000
  return PyGILState_Check() || !Py_IsFinalizing();
#else
  return PyGILState_Check() || !_Py_IsFinalizing();
#endif
}

// Holds the lock; it may be held already.
class GilAcquire {
 public:
  GilAcquire() : state_(PyGILState_Ensure()) {}
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

// Lets other threads run Python, if `really`; the lock must be held.
class GilRelease {
 public:
  explicit GilRelease(bool really = true) : saved_(really ? PyEval_SaveThread() : nullptr) {}
  ~GilRelease() {
    if (saved_) PyEval_RestoreThread(saved_);
  }
  GilRelease(const GilRelease&) = delete;

 private:
  PyThreadState* saved_;
};

}  // namespace fuselet::python
