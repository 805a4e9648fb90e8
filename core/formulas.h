// One inline function template for each pointwise primitive: the formula that CPU loops, generated
// C++, generated CUDA and the simulator share. formulas/lanes.h says what the type parameter may be
// and what its bits are held to.
#pragma once

#include "formulas/arithmetic.h"
#include "formulas/exponential.h"
#include "formulas/gelu_erf.h"
#include "formulas/gelu_tanh.h"
#include "formulas/logic.h"
#include "formulas/logistic.h"
#include "formulas/saturating.h"
#include "formulas/trigonometric.h"
