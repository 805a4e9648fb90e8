#include "frontend/cpp/nn/linear.h"

#include <cmath>

#include "core/ops/functions.h"
#include "frontend/cpp/nn/init.h"

namespace fuselet::nn {

Linear::Linear(int64_t in_features, int64_t out_features, bool bias) : Module("Linear") {
  FUSELET_CHECK(in_features > 0 && out_features > 0, "Linear: expected positive sizes, got ", in_features, " and ",
                out_features);
  // With slope sqrt(5), Kaiming's bound is 1/sqrt(fan_in).
  register_parameter("weight", init::kaiming_uniform_(empty({out_features, in_features}), std::sqrt(5.0)));
  double bound = 1 / std::sqrt(static_cast<double>(in_features));
  register_parameter("bias", bias ? init::uniform_(empty({out_features}), -bound, bound) : Tensor());
}

Tensor Linear::forward(const Tensor& input) { return linear(input, weight(), bias()); }

}  // namespace fuselet::nn
