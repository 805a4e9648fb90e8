// Calls to try each operator of the table with. Tests of kernels, references, decompositions, gradients and compiled
// code all draw from here, so a new row needs samples in one place only (a pointwise row needs none of its own).
#pragma once
#include <string>
#include <vector>

#include "core/op.h"
#include "tests/sample_tensors.h"

namespace fuselet::testing {

struct OpSample {
  std::string what;  // "(2, 1) with (3)": for the message of a failing test
  std::vector<OwnedArg> args;
};

// The dtypes that `op` is sampled in: of its floating or generic operands, or, of a factory, of its result.
std::vector<DType> dtypes_of(const Op& op);
// The same calls, with the same elements, on every run. Empty only if the row has no samples, which a test forbids.
std::vector<OpSample> samples_of(const Op& op, DType dtype);

// Runs the sample on real tensors: all results; with `in_place`, the mutated arguments first.
std::vector<Tensor> run_sample(const Op& op, const OpSample& sample, bool in_place = false);
// The same on the very tensors that are given.
std::vector<Tensor> call_with(const Op& op, const std::vector<OwnedArg>& args, bool in_place);
// "add(float32 [2, 3], 1.5)"
std::string describe(const Op& op, const OpSample& sample);

}  // namespace fuselet::testing
