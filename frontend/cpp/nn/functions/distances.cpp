#include "frontend/cpp/nn/functions/distances.h"

#include <cmath>

#include "frontend/cpp/nn/functions/precision.h"

namespace fuselet::nn::functional {

Tensor vector_norm(const Tensor& input, double p, IntList dim, bool keepdim, Location line) {
  LineScope scope(&line);
  FUSELET_CHECK(p >= 1, "vector_norm: p must be at least 1, got ", p);
  Tensor x = widened(input);
  if (p == 1) return rounded_as(sum(abs(x), dim, keepdim), input);
  if (std::isinf(p)) return rounded_as(amax(abs(x), dim, keepdim), input);
  Tensor total = sum(p == 2 ? x * x : pow(abs(x), p), dim, keepdim);
  // The root's slope at 0 is infinite; a zero vector counts as a constant.
  Tensor zero = total == 0, safe = where(zero, 1.0, total);
  return rounded_as(where(zero, 0.0, p == 2 ? sqrt(safe) : pow(safe, 1 / p)), input);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim, Location line) {
  LineScope scope(&line);
  return rounded_as(vector_norm(widened(x1) - widened(x2) + eps, p, {-1}, keepdim), x1);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps, Location line) {
  LineScope scope(&line);
  Dims sizes = broadcast_sizes(x1.sizes(), x2.sizes(), "cosine_similarity");
  Tensor a = expand(widened(x1), sizes), b = expand(widened(x2), sizes);
  // Scaled before they are multiplied, so that long vectors do not overflow.
  a = a / clamp_min(vector_norm(a, 2, dim, true), eps);
  b = b / clamp_min(vector_norm(b, 2, dim, true), eps);
  return rounded_as(sum(a * b, dim), x1);
}

}  // namespace fuselet::nn::functional
