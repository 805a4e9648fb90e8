// Fills tensors in place with starting values; nothing is recorded. Random ones draw from the default generator, one
// draw a call. Fans of a weight: (out, in) for a matrix, (out, in, kh, kw) times the kernel's area for a convolution.
#pragma once
#include "core/tensor.h"

namespace fuselet::nn::init {

Tensor uniform_(Tensor t, double low = 0, double high = 1);
Tensor normal_(Tensor t, double mean = 0, double std = 1);
Tensor constant_(Tensor t, double value);
Tensor zeros_(Tensor t);
Tensor ones_(Tensor t);
// Uniform in ±sqrt(6 / ((1 + a²) fan_in)), for a leaky rectifier of slope a (He et al. 2015).
Tensor kaiming_uniform_(Tensor t, double a = 0);
// Normal of standard deviation sqrt(2 / ((1 + a²) fan_in)).
Tensor kaiming_normal_(Tensor t, double a = 0);
// Uniform in ±gain sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010).
Tensor xavier_uniform_(Tensor t, double gain = 1);

struct Fans {
  int64_t in, out;
};
// Error for a tensor of fewer than two dimensions.
Fans fans_of(const Tensor& weight);

}  // namespace fuselet::nn::init
