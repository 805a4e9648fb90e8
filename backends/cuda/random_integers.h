// randint on CUDA: the same integers as on the CPU for a seed, by core/random_integers.h.
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

// Takes one draw of the generator, for an empty result too.
void randint(const Call& call);

}  // namespace fuselet::cuda
