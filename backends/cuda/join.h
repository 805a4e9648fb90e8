// cat on CUDA: each tensor is copied into its own slice of the result.
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

void cat(const Call& call);

}  // namespace fuselet::cuda
