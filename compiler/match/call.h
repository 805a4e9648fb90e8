// One call of a compiled function while the function's code runs.
//
// Every operator that the code asks for, and backward(), .grad and requires_grad, is a step. It is compared with the
// steps that the function took before; nothing executes, deferred tensors are handed out. When the code has ended, the
// program compiled for this path runs once, and every deferred tensor that somebody still holds becomes an ordinary one
// in place. A step that no path has is recorded, and a program compiled at the end: another path from now on.
#pragma once
#include <optional>

#include "compiler/match/asked.h"
#include "compiler/match/function.h"
#include "compiler/match/shortcut.h"
#include "core/recording.h"

namespace fuselet::match {

class FunctionCall final : public CompiledCall {
 public:
  void begin(Function& function);
  // Runs what was asked for. If it throws, or the code has thrown, abandon() undoes what took effect already.
  const Program& finish();
  void abandon() noexcept;

  // Before finish(): the way from these arguments to these results. False if the call depends on more than arguments.
  bool note_shortcut(std::span<const Tensor> arguments, std::span<const Tensor> results, Shortcut* out) const;
  // Instead of begin() and finish(). False, and nothing has happened, if these arguments go another way.
  bool follow(Function& function, const Shortcut& shortcut, std::span<const Tensor> arguments,
              std::vector<Tensor>* results);

  // The outermost layer of dispatch.
  void operate(Call& call);
  void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& grads, bool retain_graph,
                bool create_graph) override;
  std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                           const std::vector<Tensor>& grads, bool retain_graph, bool create_graph,
                           bool allow_unused) override;
  void set_grad(const Tensor& t, const Tensor& grad) override;
  void set_requires_grad(const Tensor& t, bool on) override;
  void before_cell_change(HostCell& cell) override;
  void before_read(const Tensor& t) override;
  uint64_t pending_draws() const override { return draws_; }
  [[noreturn]] void refuse(const char* what) override;

 private:
  void check_as_strided(const Tensor& t);
  void move_at_once(Call& call);
  const Step& step_for(const Asked& asked);
  const Step& record(const Asked& asked);
  void complete_pattern(StepPattern& step, const Asked& asked);
  void catch_up(const StepPattern* next);
  // Hands out the step's results and lets it take effect on what the user holds.
  void take(const Step& step, Tensor* results);
  Tensor make(const ResultTensor& r);
  void take_leaf_grads(const Step& step);
  void replace_grad(const Tensor& leaf, const TensorImplPtr& grad);
  void change_history(const HistoryChange& change);
  void note_survivors();
  bool leaf_grads_are(const Step& step) const;
  bool retrace(const Shortcut& shortcut, std::span<const Tensor> arguments);
  const Program& program();
  void leave();
  void clear();

  Function* function_ = nullptr;
  Step* at_ = nullptr;
  Handles handles_;
  std::vector<double> numbers_;
  uint64_t draws_ = 0;
  Ambient ambient_at_start_;
  bool reads_cells_ = false;  // noted for pure functions only
  bool moves_tensors_ = false;
  const std::vector<char>* needed_ = nullptr;  // while a shortcut is followed
  std::vector<const Storage*> written_;
  std::string reason_, reason_line_;  // why what was recorded before did not serve

  // To undo.
  struct ChangedGrad {
    TensorImplPtr leaf, before;
  };
  struct ChangedFlag {
    TensorImplPtr tensor;
    bool requires_grad;
  };
  std::vector<ChangedGrad> grads_;
  std::vector<ChangedFlag> flags_;
  std::vector<std::pair<CellPtr, double>> cells_;

  // While new steps are recorded: carried out up to `shadow_at_`.
  std::optional<Shadow> shadow_;
  const Step* shadow_at_ = nullptr;

  Survivors survivors_;
  std::vector<uint32_t> holders_;
};

// Runs a scope as a call of `function`. Inside another compiled function, or a recording, it is a part of that.
class CallScope {
 public:
  explicit CallScope(Function& function);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  void finish();
  // The same, and the shortcut that a pure function's next calls may take; without a program if there is none.
  Shortcut finish_with_shortcut(std::span<const Tensor> arguments, std::span<const Tensor> results);

 private:
  std::unique_ptr<FunctionCall> call_;
};

// False, and nothing has happened, if these arguments go another way.
bool follow_shortcut(Function& function, const Shortcut& shortcut, std::span<const Tensor> arguments,
                     std::vector<Tensor>* results);

// A call's tables keep their memory for the thread's next call.
std::unique_ptr<FunctionCall> take_spare_call();
void give_back_call(std::unique_ptr<FunctionCall> call);

void register_match_layer();

}  // namespace fuselet::match
