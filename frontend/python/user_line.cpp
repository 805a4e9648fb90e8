#include "frontend/python/user_line.h"

#include <Python.h>
#include <frameobject.h>

#include <cstring>

#include "core/dispatch_state.h"
#include "frontend/python/object_ref.h"

namespace fuselet::python {
namespace {

std::string* g_package = nullptr;
thread_local const std::string* t_captured = nullptr;

bool is_package_file(const char* path) { return std::strncmp(path, g_package->c_str(), g_package->size()) == 0; }

std::string look_up_line() {
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  std::string line;
  while (frame) {
    ObjectRef code(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    const char* path = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(code.get())->co_filename);
    if (path && !is_package_file(path)) {
      const char* slash = std::strrchr(path, '/');
      line = std::string(slash ? slash + 1 : path) + ":" + std::to_string(PyFrame_GetLineNumber(frame));
      break;
    }
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  return line;
}

std::string python_line() {
  if (t_captured) return *t_captured;
  // Without the lock no frame may be looked at: then C++ code of the user's is calling.
  if (!Py_IsInitialized() || !PyGILState_Check()) return "";
  return look_up_line();
}

}  // namespace

void install_line_hook(const char* package_folder) {
  delete g_package;
  g_package = new std::string(package_folder);
  set_line_hook(python_line);
}

CapturedLine::CapturedLine(bool really) : saved_(t_captured), active_(really && !t_captured) {
  if (!active_) return;
  line_ = look_up_line();
  t_captured = &line_;
}

CapturedLine::~CapturedLine() {
  if (active_) t_captured = saved_;
}

LiveLine::LiveLine() : saved_(t_captured) { t_captured = nullptr; }
LiveLine::~LiveLine() { t_captured = saved_; }

}  // namespace fuselet::python
