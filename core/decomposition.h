// What an operator is in terms of simpler ones. A decomposition calls operators on its arguments, so it runs eagerly,
// records, and differentiates. nullptr: the operator is a primitive.
#pragma once
#include "core/op.h"

namespace fuselet {

using Decomposition = void (*)(Call&);
Decomposition decomposition_of(const Op& op);

}  // namespace fuselet
