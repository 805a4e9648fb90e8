// One inline function template for each pointwise primitive: the formula that CPU loops, generated
// C++, generated CUDA and the simulator share. formulas/lanes.h says what the type parameter may be
// and what its bits are held to.
#pragma once

#include "core/formulas/arithmetic.h"
#include "core/formulas/bitwise.h"
#include "core/formulas/division.h"
#include "core/formulas/elementary.h"
#include "core/formulas/erfinv.h"
#include "core/formulas/exponential.h"
#include "core/formulas/gelu_erf.h"
#include "core/formulas/gelu_tanh.h"
#include "core/formulas/logic.h"
#include "core/formulas/logistic.h"
#include "core/formulas/saturating.h"
#include "core/formulas/selection.h"
#include "core/formulas/trigonometric.h"
