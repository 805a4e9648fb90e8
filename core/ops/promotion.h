// The dtype of a pointwise call, from the categories of its operands.
#pragma once
#include "core/op.h"

namespace fuselet {

// The type in which the operands meet; bool if there is none.
DType promoted_dtype(const Call& call);
// The dtype of the result, given the promoted one, by the row's promotion rule.
DType result_dtype(const Call& call, DType promoted);

}  // namespace fuselet
