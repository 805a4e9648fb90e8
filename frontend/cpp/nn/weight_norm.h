// Weight normalisation (Salimans and Kingma 2016): weight = g v / |v|, the norm taken over all dimensions but `dim`.
//
// The parameter `name` gives way to `name`_g (the norms, of v's rank) and `name`_v (the weight as it was), and the
// layer reads the product wherever it read the parameter. Tensors that a subclass keeps as members are not replaced.
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn::utils {

// Error if the layer has no parameter of that name. For dim -1 one norm over all dimensions.
void weight_norm(Module module, const std::string& name = "weight", int64_t dim = 0);
// Makes the product a parameter again. Error where there is no weight normalisation.
void remove_weight_norm(Module module, const std::string& name = "weight");

}  // namespace fuselet::nn::utils
