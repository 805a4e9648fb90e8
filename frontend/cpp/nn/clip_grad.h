// Scales the gradients of a list of parameters down to a common norm.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace fuselet::nn::utils {

// Multiplies every gradient by min(1, max_norm / (norm + 1e-6)) and returns the norm before that, a float32 0-d tensor.
// norm_type: 1, 2 or infinity. Parameters without gradient take no part; one listed twice counts once.
Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                       Location line = Location::current());

}  // namespace fuselet::nn::utils
