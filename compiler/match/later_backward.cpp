#include "compiler/match/later_backward.h"

#include "core/ops/functions.h"

namespace fuselet::match {
namespace {

[[noreturn]] void fail_second_time(const std::string& name) {
  fail(name, ": backward through this part of the graph a second time: what it had saved was freed by the first; ",
       "pass retain_graph=True to the first one");
}

class InsideCall final : public GradNode {
 public:
  std::string name() const override { return "compiled"; }
  std::vector<Tensor> apply(std::vector<Tensor>) override { fail_second_time(name()); }
  bool is_released() const override { return true; }
};

class FailingBackward final : public GradNode {
 public:
  explicit FailingBackward(std::string reason) : reason_(std::move(reason)) {}
  std::string name() const override { return "compiled"; }
  std::vector<Tensor> apply(std::vector<Tensor>) override { throw Error(reason_); }

 private:
  std::string reason_;
};

}  // namespace

GradNodePtr failing_backward(std::string reason) { return make_intrusive<FailingBackward>(std::move(reason)); }

const GradNodePtr& history_inside_call() {
  static const GradNodePtr* node = new GradNodePtr(make_intrusive<InsideCall>());
  return *node;
}

CompiledBackward::CompiledBackward(std::shared_ptr<const Program> program, std::vector<Tensor> saved,
                                   std::vector<double> scalars, GeneratorState draws)
    : program_(std::move(program)), scalars_(std::move(scalars)), draws_(draws) {
  for (Tensor& t : saved) {
    uint32_t version = t.version();
    saved_.push_back({std::move(t), version});
  }
}

std::vector<Tensor> CompiledBackward::apply(std::vector<Tensor> grads) {
  if (released_) fail_second_time(name());
  if (dispatch_state().grad_enabled) {
    throw NotImplementedError(
        "compiled: a graph of the backward of a compiled function (create_graph=True) is not supported yet; call "
        "backward() inside the function, or differentiate the function itself uncompiled");
  }
  const LaterBackward& backward = *program_->later_backward();
  std::vector<Tensor> inputs;
  for (const Saved& s : saved_) {
    FUSELET_CHECK(s.tensor.version() == s.version, name(), ": a tensor of shape ", to_string(s.tensor.sizes()),
                  " was saved for backward at version ", s.version,
                  " and has been written in place since: it is now at version ", s.tensor.version(),
                  line.empty() ? "" : "; the compiled call stands at ", line);
    inputs.push_back(s.tensor);
  }
  for (size_t i = 0; i < grads.size(); ++i) {
    const TensorMeta& m = backward.gradients[i];
    inputs.push_back(grads[i].defined() ? grads[i].contiguous() : zeros(m.sizes, m.dtype, m.device));
  }
  std::vector<Tensor> made = backward.executable->run({inputs, scalars_, draws_}).outputs;
  std::vector<Tensor> out;
  for (int32_t i : backward.gradient_of_leaf) out.push_back(i < 0 ? Tensor() : made[static_cast<size_t>(i)]);
  return out;
}

void CompiledBackward::release_saved() {
  saved_.clear();
  released_ = true;
}

}  // namespace fuselet::match
