// argsort on a CUDA device: lines of keys, sorted by the network that scatters use.
//
// A key is an element's order as 32 bits, then its place, so that equal elements keep their order. 64-bit elements are
// sorted by their lower half, then, stably, by their upper one. NaN counts as largest, both zeros as equal. A line
// takes the memory of the power of two from its length on, as words of 64 bits; its elements must be fewer than 2^31.
#pragma once
#include "core/op.h"

namespace fuselet::cuda {

void argsort(const Call& call);

}  // namespace fuselet::cuda
