// The parameters of a model as one vector, and back.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace fuselet::nn::utils {

// All elements of the parameters, one after another; differentiable. Error for an empty list.
Tensor parameters_to_vector(const std::vector<Tensor>& parameters, Location line = Location::current());
// Writes the elements of a vector into the parameters, in order; nothing is recorded. Error unless their numbers agree.
void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters,
                          Location line = Location::current());

}  // namespace fuselet::nn::utils
