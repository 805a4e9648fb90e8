// One spelling for the operators that make tensors out of nothing: dtype and device written out; arange counts in int64
// from 0 in steps of 1; random numbers in the type that they are drawn in.
//
//   arange(2.0, 3.0, 0.5, f32, none)   ->   %0: i64[2] = arange(2, none, 1, i64, @cpu); cast f64; mul 0.5; add 2.0;
//   cast f32
#pragma once
#include "core/op.h"

namespace fuselet {

// While a graph is recorded: puts the result into call.outs and returns true; false, and nothing recorded, if the call
// makes no tensor or is spelled so already.
bool make_source_canonical(Call& call);

}  // namespace fuselet
