// The operators of networks under fuselet::nn::functional, beside their plain names in fuselet.
#pragma once
#include "core/ops/functions.h"

namespace fuselet::nn::functional {

using fuselet::conv2d;
using fuselet::cross_entropy;
using fuselet::dropout;
using fuselet::embedding;
using fuselet::gelu;
using fuselet::layer_norm;
using fuselet::linear;
using fuselet::log_softmax;
using fuselet::max_pool2d;
using fuselet::mse_loss;
using fuselet::relu;
using fuselet::sigmoid;
using fuselet::silu;
using fuselet::softmax;
using fuselet::tanh;

}  // namespace fuselet::nn::functional
