// A call of a pure function without its code: the path that an earlier call took, taken again with other tensors.
#pragma once
#include <vector>

#include "compiler/match/program.h"

namespace fuselet::match {

// A tensor of the call: an argument by its place, one that the call has by its handle, or this very one.
struct TensorSource {
  int32_t argument = -1;
  Handle handle = kUndefined;
  Tensor kept;
};

struct Shortcut {
  Ambient ambient;
  std::vector<const Step*> path;
  std::vector<TensorSource> outside;  // in the order in which the path meets them
  std::vector<TensorSource> results;
  std::vector<double> numbers;
  const Program* program = nullptr;
  // By handle: whether the tensor takes part besides being computed with, so that it must exist.
  std::vector<char> needed;
};

// Sets `needed`.
void find_needed(Shortcut& shortcut);

}  // namespace fuselet::match
