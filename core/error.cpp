#include "core/error.h"

namespace fuselet {

InternalError::InternalError(const std::string& text, const char* file, int line)
    : std::logic_error(concat("internal error of fuselet, please report it: ", text, " (", file, ":", line, ")")) {}

}  // namespace fuselet
