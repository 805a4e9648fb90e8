// One spelling for each view: sizes and bounds written out, dimensions counted from 0, no view that changes nothing. A
// strided view of a dense tensor that shows one stretch of it becomes view, slice and permute.
//
//   slice(%0: f32[4], -1, -2, none, 1)   ->   slice(%0, 0, 2, 4, 1)
#pragma once
#include "core/op.h"

namespace fuselet {

// While a graph is recorded: puts the result into call.outs and returns true; false, and nothing recorded, if the call
// is no view or is spelled so already.
bool make_view_canonical(Call& call);

}  // namespace fuselet
