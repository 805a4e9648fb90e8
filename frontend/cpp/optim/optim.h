// All of fuselet::optim.
#pragma once
#include "frontend/cpp/optim/adadelta.h"
#include "frontend/cpp/optim/adagrad.h"
#include "frontend/cpp/optim/adam.h"
#include "frontend/cpp/optim/adam_relatives.h"
#include "frontend/cpp/optim/lr_combined.h"
#include "frontend/cpp/optim/lr_cycles.h"
#include "frontend/cpp/optim/lr_plateau.h"
#include "frontend/cpp/optim/lr_scheduler.h"
#include "frontend/cpp/optim/rmsprop.h"
#include "frontend/cpp/optim/sgd.h"
