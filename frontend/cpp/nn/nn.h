// All of fuselet::nn.
#pragma once
#include "frontend/cpp/nn/activations.h"
#include "frontend/cpp/nn/clip_grad.h"
#include "frontend/cpp/nn/conv2d.h"
#include "frontend/cpp/nn/embedding.h"
#include "frontend/cpp/nn/functional.h"
#include "frontend/cpp/nn/init.h"
#include "frontend/cpp/nn/layer_norm.h"
#include "frontend/cpp/nn/linear.h"
#include "frontend/cpp/nn/losses.h"
#include "frontend/cpp/nn/module.h"
#include "frontend/cpp/nn/sequential.h"
