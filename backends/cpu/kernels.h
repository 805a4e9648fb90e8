// The CPU's kernels by operator, as the generated kernel table lists them.
//
// A kernel finds its arguments checked by the shape rule and its outputs allocated: contiguous, or laid out as the
// shape rule says; in an in-place call the outputs are existing tensors of any strides, possibly the very arguments it
// reads.
#pragma once
#include "core/dispatch.h"
#include "core/op.h"

namespace fuselet::cpu {

// Indexed by OpId; nullptr for views and composites, which never reach a backend.
const Kernel* kernel_table();

// The kernel of every pointwise operator.
void pointwise(const Call& call);

}  // namespace fuselet::cpu
