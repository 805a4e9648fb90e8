// Norms of vectors along dimensions, and how near two vectors are. 16-bit inputs are summed in float32.
#pragma once
#include "core/tensor.h"

namespace fuselet::nn::functional {

// (sum |x|^p)^(1/p) over the dimensions `dim` (all, if empty), p >= 1 or infinity; its gradient at a zero vector is 0.
// Error for another p.
Tensor vector_norm(const Tensor& x, double p = 2, IntList dim = {}, bool keepdim = false,
                   Location line = Location::current());
// The p-norm of x1 - x2 + eps over the last dimension. Shapes broadcast.
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6, bool keepdim = false,
                         Location line = Location::current());
// The cosine of the angle between x1 and x2 along dim; each norm counts as at least eps. Shapes broadcast.
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim = 1, double eps = 1e-8,
                         Location line = Location::current());

}  // namespace fuselet::nn::functional
