// "model.py:33" of the innermost Python frame outside the package: the origin of operators called from Python.
#pragma once
#include <string>

namespace fuselet::python {

// Sets core's line hook. `package` is the folder whose frames are passed over.
void install_line_hook(const char* package_folder);

// While it lives, current_line() of this thread is the line that was current at its construction, and needs no lock.
// Construct with the lock held, before it is released around operators that may record.
class CapturedLine {
 public:
  explicit CapturedLine(bool really);
  ~CapturedLine();
  CapturedLine(const CapturedLine&) = delete;

 private:
  std::string line_;
  const std::string* saved_;
  bool active_;
};

// While it lives, lines are looked up again: Python code runs inside a captured call. Needs the lock.
class LiveLine {
 public:
  LiveLine();
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;

 private:
  const std::string* saved_;
};

}  // namespace fuselet::python
