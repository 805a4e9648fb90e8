// All of fuselet::data.
#pragma once
#include "frontend/cpp/data/data_loader.h"
#include "frontend/cpp/data/dataset.h"
#include "frontend/cpp/data/idx.h"
#include "frontend/cpp/data/text.h"
