// Reductions over dims that are not one run of memory, such as all but the channels of an image.
#pragma once
#include "core/dispatch.h"

namespace fuselet::cuda {

// A kernel of sum, amax and amin: brings the reduced dims together, then runs the operator on them as one.
void reduce_separate_dims(const Call& call);

}  // namespace fuselet::cuda
