// The functions of networks: operators under fuselet::nn::functional, beside their plain names in fuselet, and those
// that functions/ makes of operators.
#pragma once
#include "core/ops/functions.h"
#include "frontend/cpp/nn/functions/attention.h"
#include "frontend/cpp/nn/functions/convolutions.h"
#include "frontend/cpp/nn/functions/distances.h"
#include "frontend/cpp/nn/functions/losses.h"
#include "frontend/cpp/nn/functions/pooling.h"
#include "frontend/cpp/nn/functions/resampling.h"

namespace fuselet::nn::functional {

using fuselet::celu;
using fuselet::conv2d;
using fuselet::cross_entropy;
using fuselet::dropout;
using fuselet::elu;
using fuselet::embedding;
using fuselet::gelu;
using fuselet::glu;
using fuselet::hardshrink;
using fuselet::hardsigmoid;
using fuselet::hardswish;
using fuselet::hardtanh;
using fuselet::layer_norm;
using fuselet::leaky_relu;
using fuselet::linear;
using fuselet::log_sigmoid;
using fuselet::log_softmax;
using fuselet::max_pool2d;
using fuselet::mish;
using fuselet::mse_loss;
using fuselet::prelu;
using fuselet::relu;
using fuselet::relu6;
using fuselet::selu;
using fuselet::sigmoid;
using fuselet::silu;
using fuselet::softmax;
using fuselet::softplus;
using fuselet::softshrink;
using fuselet::softsign;
using fuselet::tanh;
using fuselet::tanhshrink;
using fuselet::threshold;

}  // namespace fuselet::nn::functional
