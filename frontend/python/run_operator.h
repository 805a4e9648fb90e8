// Runs an operator for Python: releases the interpreter lock where it pays, and wraps the results.
#pragma once
#include <Python.h>

#include "core/op.h"

namespace fuselet::python {

// Runs with the lock released if some argument has more elements than this (for contractions, the smaller number), or a
// factory is to make more. Below, a kernel takes a few microseconds at most, and giving the lock away costs 0.1 of one.
inline constexpr int64_t kElementsWorthReleasing = 4096;
inline constexpr int64_t kContractionElementsWorthReleasing = 1024;

// Fills the outputs of a call whose arguments are in place. Needs the lock. `outs` has count_outputs() entries, with
// the mutated tensors in front if `in_place`.
void run_call(Call& call);

// One output or a tuple, mutated arguments left out; None for none.
PyObject* run_and_wrap(const Op& op, Arg* args, int count, bool in_place);

}  // namespace fuselet::python
