// One spelling for each view: sizes and bounds written out, dimensions counted from 0, no view that changes nothing.
// Strided views of a tensor in row-major order, as recordings make them after a write, become other views where they
// are a slice along one dimension or show one stretch of memory; a write through such a slice becomes slice_scatter.
//
//   slice(%0: f32[4], -1, -2, none, 1)                             ->   slice(%0, 0, 2, 4, 1)
//   as_strided(%0: f32[3, 4], [3, 2], [4, 1], 1)                   ->   slice(%0, 1, 1, 3, 1)
//   as_strided_scatter(%0: f32[3, 4], %1: f32[4], [4], [1], 8)     ->   slice_scatter(%0, view(%1, [1, 4]), 0, 2, 3, 1)
#pragma once
#include "core/op.h"

namespace fuselet {

// While a graph is recorded: puts the result into call.outs and returns true; false, and nothing recorded, if the call
// is no view (or write through one) or is spelled so already.
bool make_view_canonical(Call& call);

}  // namespace fuselet
