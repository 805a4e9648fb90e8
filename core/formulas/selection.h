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

// The gradient of relu from its result y.
template <class V>
FUSELET_FN V relu_grad(V g, V y) {
  return select(y > Scalar<V>(0), g, splat<V>(0));
}

}  // namespace fuselet::formula
