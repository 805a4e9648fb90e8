// Products of float32 copies of 16-bit values take the values themselves, for devices that multiply those faster. Their
// sums stay in float32 (matmul_wide); where the result is rounded to the 16-bit dtype at once, so does the product.
//
//   %2: f32 = cast(%0: bf16); %3: f32 = cast(%1: bf16); %4: f32 = matmul(%2, %3); %5: f32 = add(%4, 1)
//     ->   %2: f32 = matmul_wide(%0, %1); %3: f32 = add(%2, 1)
//   the same, and %5: bf16 = cast(%4)   ->   %2: bf16 = matmul(%0, %1)
//
// A product of 16-bit floats is exact in float32, so what changes is the order of the sums at most. Factors are seen
// through views that do not depend on strides. Entry: primitives. What nobody reads any more stays.
#pragma once
#include "compiler/ir/graph.h"

namespace fuselet {

// True: it changed something.
bool narrow_products(ir::Graph& graph);

}  // namespace fuselet
