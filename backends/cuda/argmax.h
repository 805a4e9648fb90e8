// argmax on CUDA: the first largest element of a row; NaN counts as largest.
//
// Rows are read in place where their elements are neighbours, else from a copy. A warp or a block takes a row; few long
// rows are split into chunks whose winners compete in a second launch. Of equal elements the lower index wins in every
// comparison, so the result does not depend on who compares what.
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

void argmax(const Call& call);

}  // namespace fuselet::cuda
