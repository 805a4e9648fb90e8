// What the function asks for now, and how it compares with a step of a path.
#pragma once
#include <span>
#include <string>

#include "compiler/match/handles.h"

namespace fuselet::match {

struct Asked {
  StepKind kind;
  const Op* op;
  bool in_place;
  Ambient ambient;
  std::span<const Arg> args;
};

// True iff `asked` is `step`. Then tensors from outside have their handles and the step's numbers are appended to
// `numbers`; else both are as before.
bool matches(const Step& step, const Asked& asked, Handles& handles, std::vector<double>& numbers);

// `asked` as a step that follows `number_of_handles` handles and `numbers`: tensors new to the call are bound, numbers
// appended. `before`: the step that it follows; `siblings`: the steps that other paths took here. NotImplementedError
// for a value of another recording.
StepPattern pattern_of(const Asked& asked, const Step& before, const Step* siblings, Handles& handles,
                       std::vector<double>& numbers);
// The handle of `t`, bound as a tensor from outside if it is new.
Handle handle_or_bind(StepPattern& step, const Tensor& t, Handles& handles);

// Where `asked` first differs from `step`: "argument 1 is float32[4, 5], was float32[4, 4]".
std::string difference(const Step& step, const Asked& asked, const Handles& handles);

}  // namespace fuselet::match
