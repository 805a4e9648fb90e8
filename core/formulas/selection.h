// Formulas that hand on one of their operands.
#pragma once

#include "core/formulas/lanes.h"

namespace fuselet::formula {

template <class V>
FUSELET_FN V identity(V x) {
  return x;
}
template <class V>
FUSELET_FN V second(V, V y) {
  return y;
}

}  // namespace fuselet::formula
