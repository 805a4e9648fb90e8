// One inline function template for each pointwise primitive: the formula that CPU loops, generated C++, generated CUDA
// and the simulator share. formulas/lanes.h says what the type parameter may be and what its bits are held to.
#pragma once

#include "formulas/activation.h"
#include "formulas/arithmetic.h"
#include "formulas/exponential.h"
#include "formulas/selection.h"
#include "formulas/trigonometric.h"
