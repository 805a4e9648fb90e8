#include "compiler/match/program.h"

#include <algorithm>

#include "autograd/grad_node.h"
#include "compiler/match/later_backward.h"
#include "compiler/replay/layout.h"

namespace fuselet::match {
namespace {

// The draws of one run; given back if the run fails.
class Draws {
 public:
  explicit Draws(uint64_t count) : count_(count) {
    if (count_ > 0) first_ = default_generator().next_draw(count_);
  }
  Draws(const Draws&) = delete;
  ~Draws() {
    if (done_ || count_ == 0) return;
    GeneratorState now = default_generator().state();
    if (now == GeneratorState{first_.seed, first_.draws + count_}) default_generator().set_state(first_);
  }
  GeneratorState first() const { return first_; }
  void done() { done_ = true; }

 private:
  uint64_t count_;
  GeneratorState first_;
  bool done_ = false;
};

}  // namespace

bool Program::serves(const Survivors& survivors, const std::vector<double>& numbers) const {
  for (const Pin& p : pins_) {
    double now = numbers[static_cast<size_t>(p.number)];
    if (now != p.value && (now == now || p.value == p.value)) return false;
  }
  auto computes = [&](Handle root) {
    return std::any_of(outputs_.begin(), outputs_.end(), [&](const Output& o) { return o.root == root; });
  };
  return std::all_of(survivors.roots.begin(), survivors.roots.end(), computes) &&
         std::includes(with_grad_.begin(), with_grad_.end(), survivors.with_grad.begin(), survivors.with_grad.end());
}

std::vector<Tensor> Program::inputs_of(const Handles& handles) const {
  std::vector<Tensor> inputs;
  inputs.reserve(inputs_.size());
  for (const Input& input : inputs_) {
    const Tensor& t = handles[input.first];
    if (!input.is_window) {
      inputs.push_back(t);
      continue;
    }
    inputs.push_back(Tensor(make_intrusive<TensorImpl>(t.impl()->storage(), Dims{input.extent}, Dims{1},
                                                       t.impl()->offset() + input.low, t.dtype())));
  }
  return inputs;
}

void Program::run(const Handles& handles, const std::vector<double>& numbers) const {
  std::vector<Tensor> inputs = inputs_of(handles);
  std::vector<double> scalars;
  scalars.reserve(number_of_cell_.size());
  for (int32_t i : number_of_cell_) scalars.push_back(numbers[static_cast<size_t>(i)]);
  Draws draws(draws_);
  RunOutputs out = forward_->run({inputs, scalars, draws.first()});
  draws.done();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Tensor made = replay::in_layout(std::exchange(out.outputs[i], Tensor()), outputs_[i].meta);
    Storage& storage = *handles[outputs_[i].root].impl()->storage();
    // Nobody asks for what this call did not keep.
    if (storage.is_deferred()) storage.take(*made.impl()->storage());
  }
  for (auto [view, base] : views_) {
    if (handles[view].impl()->use_count() == 1) continue;
    AutogradMeta& meta = handles[view].impl()->make_autograd();
    const AutogradMeta* of_base = handles[base].impl()->autograd();
    meta.view_base = handles[base].ptr();
    meta.base_generation = of_base ? of_base->view_generation : 0;
  }
  if (backward_) put_on_tape(handles, inputs, std::move(out.outputs), numbers, draws.first());
}

void Program::put_on_tape(const Handles& handles, const std::vector<Tensor>& inputs, std::vector<Tensor> made,
                          const std::vector<double>& numbers, GeneratorState draws) const {
  if (!backward_->failure.empty()) {
    GradNodePtr failing = failing_backward(backward_->failure);
    for (Handle h : backward_->outputs) set_history(handles[h], failing, 0);
    return;
  }
  std::vector<Tensor> saved;
  for (const SavedValue& s : backward_->saved) {
    if (s.input >= 0) {
      saved.push_back(inputs[static_cast<size_t>(s.input)].detach());
    } else if (static_cast<size_t>(s.output) < outputs_.size()) {
      saved.push_back(handles[outputs_[static_cast<size_t>(s.output)].root].detach());
    } else {
      saved.push_back(std::move(made[static_cast<size_t>(s.output)]));
    }
  }
  std::vector<double> scalars;
  for (int32_t i : backward_->number_of_cell) scalars.push_back(numbers[static_cast<size_t>(i)]);
  auto node = make_intrusive<CompiledBackward>(shared_from_this(), std::move(saved), std::move(scalars), draws);
  node->line = line_;
  node->num_outputs = static_cast<uint32_t>(backward_->outputs.size());
  for (Handle leaf : backward_->leaves) node->edges.push_back(gradient_edge(handles[leaf]));
  for (size_t i = 0; i < backward_->outputs.size(); ++i)
    set_history(handles[backward_->outputs[i]], node, static_cast<uint32_t>(i));
}

}  // namespace fuselet::match
