// The steps of a call carried out once more on tensors of a recording: the shadows of the call's tensors, by handle.
// What the user holds is never part of the recording, so any path can be recorded again from its steps alone.
#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/match/step.h"
#include "compiler/trace/recorder.h"

namespace fuselet::match {

// How a group of tensors from outside becomes an input of the graph: its only tensor as it is, or, where several views
// of one memory meet, the flat piece [low, high) of that memory, counted from the group's first tensor.
struct GroupPlan {
  Handle first = kUndefined;
  bool is_window = false;
  int64_t low = 0, high = 0;
  TensorForm form;  // of the first tensor
};

// Groups of the steps, in their order. NotImplementedError where two dtypes share memory.
std::vector<GroupPlan> plan_groups(const std::vector<const StepPattern*>& steps);
// From the first step to `last`.
std::vector<const StepPattern*> path_to(const Step* last);

class Shadow {
 public:
  Shadow(const std::string& name, std::vector<GroupPlan> plan);
  ~Shadow();

  // True iff the tensors that `step` meets fit the plan, as it is or with new groups added.
  bool fits(const StepPattern& step) const;
  // Carries the step out; `numbers` are those of the call. For a step that is being recorded, `results`, `history`,
  // `written` and `draws` are filled in; on an exception the shadow is of no more use.
  void record(StepPattern& step, const std::string& line, const std::vector<double>& numbers);
  void replay(const Step& step, const std::vector<double>& numbers);

  // The leaves that backward from these tensors reaches.
  std::vector<Handle> leaves_behind(const std::vector<Handle>& outputs);
  bool number_was_read(int32_t scalar) const { return cells_[static_cast<size_t>(scalar)]->was_read(); }

  const Tensor& operator[](Handle h) const { return tensors_[static_cast<size_t>(h)]; }
  Handle size() const { return static_cast<Handle>(tensors_.size()); }
  // The first handle over the storage of `h`.
  Handle root_of(Handle h) const { return roots_.at((*this)[h].impl()->storage().get()); }
  trace::Recorder& recorder() { return recorder_; }
  const std::vector<GroupPlan>& plan() const { return plan_; }
  const std::vector<CellPtr>& cells() const { return cells_; }

 private:
  void add(const Tensor& t);
  void meet(const OutsideTensor& outside);
  std::vector<Tensor> carry_out(const StepPattern& step, const std::string& line, const std::vector<double>& numbers);
  std::vector<Tensor> run_backward(const StepPattern& step, const std::vector<std::vector<Tensor>>& lists);
  ResultTensor describe(const Tensor& result, Handle next);
  void note_history(StepPattern& step);

  trace::Recorder recorder_;
  std::vector<GroupPlan> plan_;
  std::vector<Tensor> windows_;  // by group; undefined for a tensor that is an input as it is
  std::vector<Tensor> tensors_;
  std::vector<CellPtr> cells_;  // by scalar
  std::unordered_map<const TensorImpl*, Handle> handles_;
  std::unordered_map<const Storage*, Handle> roots_;
  std::vector<std::pair<bool, bool>> history_;  // by handle: requires_grad, is_leaf
};

// The user's line of what is recorded inside.
class LineOfRecording {
 public:
  LineOfRecording(trace::Recorder& recorder, const std::string& line) : recorder_(recorder) {
    recorder_.set_line(&line);
  }
  ~LineOfRecording() { recorder_.set_line(nullptr); }
  LineOfRecording(const LineOfRecording&) = delete;

 private:
  trace::Recorder& recorder_;
};

// Operators inside go to `recorder` alone, under the step's ambient state.
class ShadowScope {
 public:
  ShadowScope(trace::Recorder& recorder, const Ambient& ambient)
      : call_(&DispatchState::compiled_call, nullptr),
        grad_(&DispatchState::grad_enabled, ambient.grad_enabled),
        dtype_(&DispatchState::default_dtype, ambient.default_dtype),
        device_(&DispatchState::default_device, ambient.default_device),
        match_(Layer::Match, false),
        recording_(recorder) {}

 private:
  StateGuard<CompiledCall*> call_;
  StateGuard<bool> grad_;
  StateGuard<DType> dtype_;
  StateGuard<Device> device_;
  LayerGuard match_;
  trace::RecordingScope recording_;
};

}  // namespace fuselet::match
