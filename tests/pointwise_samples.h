// Samples of pointwise rows, derived from the row alone.
#pragma once
#include "tests/op_samples.h"

namespace fuselet::testing {

std::vector<OpSample> pointwise_samples(const Op& op, DType dtype);

}  // namespace fuselet::testing
