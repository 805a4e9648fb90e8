// Replaces arithmetic by less of it where every bit stays, signs of zeros included:
//
//   x * 1, x / 1, x - 0, x + -0.0      ->  x              (x + 0.0 is kept: it turns -0.0 into 0.0)
//   x / 2^k                            ->  x * 2^-k       (both round the same number)
//   pow(x, 1); pow(x, 2) in float32    ->  x; x * x
//   -(-x); |-x|, ||x||                 ->  x; |x|
//   a + (-b), a - (-b), (-a) + b       ->  a - b, a + b, b - a
//   where(c, x, x), where(true, x, y)  ->  x
//   maximum(x, x), minimum(x, x)       ->  x
#pragma once
#include "compiler/ir/graph.h"

namespace fuselet {

// True: it changed something.
bool simplify_algebra(ir::Graph& graph);

}  // namespace fuselet
