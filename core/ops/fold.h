// How scatter_fold takes an element into what is there: the names in calls, and which function each one means.
#pragma once
#include <string_view>

#include "core/error.h"

namespace fuselet {

enum class Fold : unsigned char { Prod, Amax, Amin };

// Error, naming `op`, for another text than 'prod', 'amax' or 'amin'.
inline Fold fold_of(std::string_view name, const char* op) {
  if (name == "prod") return Fold::Prod;
  if (name == "amax") return Fold::Amax;
  FUSELET_CHECK(name == "amin", op, ": a fold must be 'prod', 'amax' or 'amin', got '", name, "'");
  return Fold::Amin;
}

}  // namespace fuselet
