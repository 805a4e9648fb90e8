// max_pool2d_with_indices on a CUDA device, as a kernel of the operator table. Its gradient is a scatter_add of the
// table's.
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

// The first largest element of each window, and its int64 place in the plane; NaN counts as largest; padding is never
// chosen. All dtypes.
void max_pool2d_with_indices(const Call& call);

}  // namespace fuselet::cuda
