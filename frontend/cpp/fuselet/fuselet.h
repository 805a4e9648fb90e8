// Everything that a program needs: tensors and their operators, autograd, layers, optimizers, data, checkpoints.
#pragma once
#include "autograd/custom_function.h"
#include "autograd/engine.h"
#include "backends/threads.h"
#include "core/generator.h"
#include "core/ops/functions.h"
#include "frontend/cpp/checkpoint/checkpoint.h"
#include "frontend/cpp/checkpoint/safetensors.h"
#include "frontend/cpp/data/data.h"
#include "frontend/cpp/nn/nn.h"
#include "frontend/cpp/optim/optim.h"
#include "frontend/cpp/progress/progress_bar.h"
#include "frontend/cpp/values/from_values.h"
