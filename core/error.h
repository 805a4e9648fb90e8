// Two kinds of failure. Error: the user's mistake; the text names the operator, what was expected, what was given, and
// the user's line where it is known. InternalError: ours; its text asks for a report. Nothing in the project aborts.
#pragma once
#include <source_location>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace fuselet {

using Location = std::source_location;

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text) : std::runtime_error(text) {}
};

// An index past the end; Python sees IndexError.
class IndexError : public Error {
 public:
  using Error::Error;
};

// An argument of a wrong kind; Python sees TypeError.
class TypeError : public Error {
 public:
  using Error::Error;
};

// Present in the frame, absent in this build of the project; Python sees NotImplementedError.
class NotImplementedError : public Error {
 public:
  using Error::Error;
};

class InternalError : public std::logic_error {
 public:
  InternalError(const std::string& text, const char* file, int line);
};

template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

template <class... Parts>
[[noreturn, gnu::cold]] void fail(const Parts&... parts) {
  throw Error(concat(parts...));
}

// The user's mistake unless `condition` holds; the parts of the text are only joined when it does not.
#define FUSELET_CHECK(condition, ...) \
  do {                                \
    if (!(condition)) [[unlikely]]    \
      ::fuselet::fail(__VA_ARGS__);   \
  } while (0)

#define FUSELET_CHECK_INDEX(condition, ...)                        \
  do {                                                             \
    if (!(condition)) [[unlikely]]                                 \
      throw ::fuselet::IndexError(::fuselet::concat(__VA_ARGS__)); \
  } while (0)

#define FUSELET_INTERNAL_CHECK(condition, text)                   \
  do {                                                            \
    if (!(condition)) [[unlikely]]                                \
      throw ::fuselet::InternalError((text), __FILE__, __LINE__); \
  } while (0)

}  // namespace fuselet
