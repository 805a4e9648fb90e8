// The compiled code for calls that end behind one step.
#pragma once
#include <memory>
#include <vector>

#include "compiler/match/handles.h"
#include "compiler/match/settings.h"
#include "compiler/match/shadow.h"
#include "compiler/partition/partition.h"
#include "compiler/plan/executable.h"
#include "compiler/report/report.h"

namespace fuselet::match {

// What of a call somebody holds when its code has ended.
struct Survivors {
  std::vector<Handle> roots;      // whose memory the call made
  std::vector<Handle> with_grad;  // tensors that require grad
  void clear() {
    roots.clear();
    with_grad.clear();
  }
};

// The backward that comes after the call.
struct LaterBackward {
  std::shared_ptr<const Executable> executable;  // inputs: the saved values, then the gradients of `outputs`
  std::vector<SavedValue> saved;
  std::vector<Handle> outputs;            // tensors that get a place on the tape
  std::vector<TensorMeta> gradients;      // of `outputs`, contiguous
  std::vector<Handle> leaves;             // whose gradients it computes
  std::string failure;                    // not empty: why there is no executable, an error for who runs the backward
  std::vector<int32_t> gradient_of_leaf;  // output of the executable; -1: none flows
  std::vector<int32_t> number_of_cell;    // of the backward graph
};

class Program : public std::enable_shared_from_this<Program> {
 public:
  // The steps that `shadow` has carried out, compiled so that the survivors get their values. Uses the shadow up.
  static std::shared_ptr<Program> build(Shadow& shadow, const std::vector<const StepPattern*>& steps,
                                        const Survivors& survivors, const std::vector<double>& numbers,
                                        const CompileSettings& settings, const std::string& line);

  // True iff the call's numbers are as this program took them for granted and it computes every survivor.
  bool serves(const Survivors& survivors, const std::vector<double>& numbers) const;
  // Runs for the tensors and numbers of a call; gives memory to what survives, and a place on the tape.
  void run(const Handles& handles, const std::vector<double>& numbers) const;

  const Executable& executable() const { return *forward_; }
  const LaterBackward* later_backward() const { return backward_ ? &*backward_ : nullptr; }
  // Calls f(handle) for each tensor that run() gives something to.
  template <class F>
  void for_each_given(F&& f) const {
    for (const Output& o : outputs_) f(o.root);
    for (auto [view, base] : views_) f(view), f(base);
    if (backward_) {
      for (Handle h : backward_->outputs) f(h);
    }
  }
  // Of the forward; the stages of a later backward follow, with "backward." before their names.
  const report::CompileReport& report() const { return report_; }

  const Program* next = nullptr;

 private:
  struct Input {
    Handle first;
    bool is_window;
    int64_t low, extent;
  };
  struct Pin {
    int32_t number;
    double value;
  };
  struct Output {
    Handle root;
    TensorMeta meta;
  };
  void add_backward(Shadow& shadow, const Survivors& survivors);
  void compile(trace::Recorder& recorder, const CompileSettings& settings);
  void read_numbers(Shadow& shadow, const std::vector<const StepPattern*>& steps, const std::vector<double>& numbers);
  std::vector<Tensor> inputs_of(const Handles& handles) const;
  void put_on_tape(const Handles& handles, const std::vector<Tensor>& inputs, std::vector<Tensor> made,
                   const std::vector<double>& numbers, GeneratorState draws) const;

  std::shared_ptr<const Executable> forward_;
  std::vector<Input> inputs_;
  std::vector<int32_t> number_of_cell_;
  std::vector<Pin> pins_;
  std::vector<Output> outputs_;
  std::vector<Handle> with_grad_;
  std::vector<std::pair<Handle, Handle>> views_;  // that survive, and what they are views of for autograd
  std::optional<LaterBackward> backward_;
  report::CompileReport report_;
  uint64_t draws_ = 0;
  std::string line_;  // of the last step, for errors of the later backward
};

}  // namespace fuselet::match
