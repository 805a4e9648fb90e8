// What the code of a compiled function asked for, step by step, in a form that compares fast with what it asks for now.
//
// Tensors are named by handles: numbers in the order in which the tensors were met. A tensor from outside gets one when
// a step first uses it (`outside`), a tensor that a step makes when it is handed out (`results`). The steps of all
// paths that the function has taken form a tree; the same first steps are stored once.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/matmul_precision.h"
#include "core/op.h"

namespace fuselet::match {

using Handle = int32_t;
inline constexpr Handle kUndefined = -1;

enum class StepKind : uint8_t { Operator, Backward, Grad, SetGrad, SetRequiresGrad };

// What a step depends on besides its arguments.
struct Ambient {
  bool grad_enabled = true;
  DType default_dtype = DType::Float32;
  Device default_device;
  MatmulPrecision float32_matmul = MatmulPrecision::Highest;
  friend bool operator==(const Ambient&, const Ambient&) = default;
};

// Whether a number of a call is compared, or is an input of the compiled code (and also compared, if the value was read
// while the step was recorded). AnyInt: an int that joins floating tensors, where a double of its value does the same.
enum class NumberRole : uint8_t { Compared, Input, ComparedInput, AnyInt };

struct ArgPattern {
  Arg::Tag tag = Arg::Tag::None;
  NumberRole role = NumberRole::Compared;
  Category category = Category::Float;
  uint32_t first = 0, count = 0;  // a list's place in Step::handles or Step::ints; a text's in Step::texts
  int64_t bits = 0;               // a handle, an integer, the bits of a double, …
  friend bool operator==(const ArgPattern&, const ArgPattern&) = default;
};

struct TensorForm {
  Dims sizes, strides;
  SymInt offset = 0;
  DType dtype = DType::Float32;
  Device device;
  friend bool operator==(const TensorForm&, const TensorForm&) = default;
};

// A tensor that the function met. Those that share a storage form a group; form.offset counts from the group's first.
struct OutsideTensor {
  TensorForm form;
  bool requires_grad = false, is_leaf = true, read_only = false;
  int32_t group = 0;
  friend bool operator==(const OutsideTensor&, const OutsideTensor&) = default;
};

// A tensor that a step gives back. A view shares the storage of `parent`; its form.offset counts from that tensor's.
struct ResultTensor {
  enum class Origin : uint8_t { Undefined, Known, Fresh, View };
  Origin origin = Origin::Undefined;
  Handle handle = kUndefined;
  Handle parent = kUndefined;
  Handle view_base = kUndefined;  // of which autograd takes it for a view
  bool requires_grad = false, is_leaf = true;
  TensorForm form;
  friend bool operator==(const ResultTensor&, const ResultTensor&) = default;
};

// A leaf whose `.grad` a backward changes: what it was, and which of the results it is then.
struct LeafGrad {
  Handle leaf, before;
  friend bool operator==(const LeafGrad&, const LeafGrad&) = default;
};

// Autograd state that a step changed on a tensor which it did not make.
struct HistoryChange {
  Handle handle;
  bool requires_grad, is_leaf;
  friend bool operator==(const HistoryChange&, const HistoryChange&) = default;
};

struct StepPattern {
  StepKind kind = StepKind::Operator;
  bool in_place = false;
  Ambient ambient;
  const Op* op = nullptr;
  std::vector<ArgPattern> args;
  std::vector<Handle> handles;
  std::vector<SymInt> ints;
  std::vector<std::string> texts;
  Handle first_handle = 0;  // handles that exist before the step: those of `outside` follow, then those of new results
  int32_t first_scalar = 0;
  std::vector<OutsideTensor> outside;
  std::vector<LeafGrad> leaf_grads;
  std::vector<ResultTensor> results;
  std::vector<HistoryChange> history;
  std::vector<Handle> written;    // tensors from outside, or views of them, whose memory the step writes
  std::vector<Handle> rewritten;  // tensors that the call made and the step writes in place
  std::vector<int32_t> windows;   // groups that must be an input as a flat piece of memory
  std::vector<std::string> scalar_names;
  int32_t draws = 0;
  friend bool operator==(const StepPattern&, const StepPattern&) = default;
};

class Program;

// Children and programs are only ever added, in front, so that they are walked without a lock.
struct Step : StepPattern {
  Step* parent = nullptr;
  int32_t number = 0;  // of the call in the function, counted from 1
  std::string line;
  std::atomic<Step*> children = nullptr;
  Step* sibling = nullptr;
  // Compiled for runs that end behind this step.
  std::atomic<const Program*> programs = nullptr;
};

Ambient ambient_now();
TensorForm form_of(const Tensor& t);
// "f32[4, 5]"
std::string text_of(const TensorForm& form);
// "add", "backward"
std::string name_of(StepKind kind, const Op* op);
// "call 3 (add)"
std::string name_of(const Step& step);

}  // namespace fuselet::match
