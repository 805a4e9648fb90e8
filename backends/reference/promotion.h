// The dtype of a pointwise result, from the rule as documented: operands are of three classes (tensors with dimensions,
// 0-d tensors, numbers); a weaker class counts only where its category is higher than all stronger ones'.
#pragma once
#include "backends/reference/reference.h"

namespace fuselet::reference {

// The wider of two types of one category; across categories the higher category's.
DType wider(DType a, DType b);
// The dtype in which the operands of a pointwise call meet.
DType common_dtype(const RefCall& call);
// The dtype of its result: the row's rule, or what an argument of type DType says.
DType pointwise_dtype(const RefCall& call, DType common);

}  // namespace fuselet::reference
