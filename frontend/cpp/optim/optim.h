// All of fuselet::optim.
#pragma once
#include "frontend/cpp/optim/adagrad.h"
#include "frontend/cpp/optim/adam.h"
#include "frontend/cpp/optim/lr_scheduler.h"
#include "frontend/cpp/optim/rmsprop.h"
#include "frontend/cpp/optim/sgd.h"
