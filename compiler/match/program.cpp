#include "compiler/match/program.h"

#include <algorithm>
#include <unordered_set>

#include "autograd/engine.h"
#include "autograd/grad_node.h"
#include "compiler/match/later_backward.h"
#include "compiler/match/split.h"
#include "compiler/replay/layout.h"

namespace fuselet::match {
namespace {

TensorMeta contiguous_meta(const Tensor& t) {
  TensorMeta m;
  m.sizes = Dims(t.sizes());
  m.strides = contiguous_strides(t.sizes());
  m.dtype = t.dtype();
  m.device = t.device();
  return m;
}

// A backward that ran inside the call has used a part of what led to `t`.
bool has_released_history(const Tensor& t) {
  std::unordered_set<GradNode*> seen;
  std::vector<GradNode*> stack;
  auto visit = [&](const Edge& e) {
    if (e.node && seen.insert(e.node.get()).second) stack.push_back(e.node.get());
  };
  visit(gradient_edge(t));
  while (!stack.empty()) {
    GradNode* node = stack.back();
    stack.pop_back();
    if (node->is_released()) return true;
    for (const Edge& e : node->edges) visit(e);
  }
  return false;
}

CompileOptions options_of(const CompileSettings& s) {
  CompileOptions o;
  o.numerics = s.numerics;
  o.memory_budget = s.memory_budget;
  o.stages = s.stages;
  return o;
}

std::shared_ptr<const Executable> compile_part(ir::Graph graph, const CompileSettings& settings) {
  ir::number_in_order(graph);
  ir::verify(graph);
  return compile_graph(graph, options_of(settings));
}

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

std::shared_ptr<Program> Program::build(Shadow& shadow, const std::vector<const StepPattern*>& steps,
                                        const Survivors& survivors, const std::vector<double>& numbers,
                                        const CompileSettings& settings, const std::string& line) {
  auto program = std::make_shared<Program>();
  trace::Recorder& recorder = shadow.recorder();
  ir::Graph& graph = recorder.graph();
  for (const GroupPlan& group : shadow.plan())
    program->inputs_.push_back({group.first, group.is_window, group.low, group.high - group.low});
  for (Handle root : survivors.roots) {
    graph.outputs.push_back(recorder.value_of(shadow[root]));
    program->outputs_.push_back({root, contiguous_meta(shadow[root])});
    program->outputs_.back().meta.strides = Dims(shadow[root].strides());
  }
  for (trace::AliasGroup* group : recorder.groups()) {
    if (group->input >= 0 && group->written) graph.writes.push_back({group->input, group->value});
  }
  program->with_grad_ = survivors.with_grad;
  for (const StepPattern* step : steps) {
    for (const ResultTensor& r : step->results) {
      if (r.origin == ResultTensor::Origin::View && r.view_base != kUndefined)
        program->views_.emplace_back(r.handle, r.view_base);
    }
  }
  program->draws_ = static_cast<uint64_t>(graph.draws);
  program->line_ = line;
  program->add_backward(shadow, survivors);
  if (program->backward_ && program->backward_->failure.empty()) {
    LaterBackward& later = *program->backward_;
    // add_backward has left the joint graph: the forward's nodes, the gradients' behind them.
    size_t num_tangents = later.outputs.size();
    std::vector<ir::ValueId> gradients(graph.outputs.end() - static_cast<std::ptrdiff_t>(later.saved_gradients),
                                       graph.outputs.end());
    graph.outputs.resize(graph.outputs.size() - later.saved_gradients);
    SplitGraph split = split_backward(graph, later.num_forward, graph.inputs.size() - num_tangents, gradients);
    later.saved = split.saved;
    later.executable = compile_part(std::move(split.backward), settings);
    program->forward_ = compile_part(std::move(split.forward), settings);
  } else {
    program->forward_ = compile_part(std::move(graph), settings);
  }
  std::vector<char> compared(shadow.cells().size(), 0);
  for (const StepPattern* step : steps) {
    for (const ArgPattern& p : step->args) {
      if (p.tag == Arg::Tag::Scalar && p.role == NumberRole::ComparedInput) compared[p.first] = 1;
    }
  }
  for (size_t i = 0; i < shadow.cells().size(); ++i) {
    if (shadow.cells()[i]->was_read() && !compared[i]) program->pins_.push_back({static_cast<int32_t>(i), numbers[i]});
  }
  for (const CellPtr& cell : recorder.cells()) {
    auto at = std::find(shadow.cells().begin(), shadow.cells().end(), cell);
    FUSELET_INTERNAL_CHECK(at != shadow.cells().end(), "a compiled call reads a cell that is no number of its steps");
    program->number_of_cell_.push_back(static_cast<int32_t>(at - shadow.cells().begin()));
  }
  return program;
}

// Appends the gradients of what survives, computed from new inputs, to the recorded graph.
void Program::add_backward(Shadow& shadow, const Survivors& survivors) {
  LaterBackward later;
  std::vector<Tensor> outputs, tangents, leaves;
  for (Handle h : survivors.with_grad) {
    if (shadow[h].is_leaf() || has_released_history(shadow[h])) continue;
    later.outputs.push_back(h);
    outputs.push_back(shadow[h]);
    later.gradients.push_back(contiguous_meta(shadow[h]));
  }
  if (outputs.empty()) return;
  later.leaves = shadow.leaves_behind(later.outputs);
  for (Handle h : later.leaves) leaves.push_back(shadow[h]);
  trace::Recorder& recorder = shadow.recorder();
  ir::Graph& graph = recorder.graph();
  later.num_forward = graph.nodes.size();
  ShadowScope scope(recorder, {false, DType::Float32, {}});
  std::vector<Tensor> gradients;
  size_t num_values = graph.values.size(), num_inputs = graph.inputs.size();
  for (size_t i = 0; i < outputs.size(); ++i)
    tangents.push_back(recorder.add_input(ir::InputKind::Argument, "g" + std::to_string(i), later.gradients[i]));
  try {
    gradients = grad(outputs, leaves, tangents, {true, false}, true);
  } catch (const Error& e) {
    // Eager code would run the forward and fail at the backward.
    later.failure = e.what();
    graph.nodes.resize(later.num_forward);
    graph.values.resize(num_values);
    graph.inputs.resize(num_inputs);
  }
  for (const Tensor& g : gradients) {
    later.gradient_of_leaf.push_back(g.defined() ? static_cast<int32_t>(later.saved_gradients++) : -1);
    if (g.defined()) graph.outputs.push_back(recorder.value_of(g));
  }
  backward_ = std::move(later);
}

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
  if (backward_) put_on_tape(handles, inputs, std::move(out.outputs), std::move(scalars), draws.first());
}

void Program::put_on_tape(const Handles& handles, const std::vector<Tensor>& inputs, std::vector<Tensor> made,
                          std::vector<double> scalars, GeneratorState draws) const {
  std::vector<Tensor> saved;
  if (!backward_->failure.empty()) {
    GradNodePtr failing = failing_backward(backward_->failure);
    for (Handle h : backward_->outputs) set_history(handles[h], failing, 0);
    return;
  }
  for (const SavedValue& s : backward_->saved) {
    if (s.is_input) {
      saved.push_back(inputs[s.index].detach());
    } else if (s.index < outputs_.size()) {
      saved.push_back(handles[outputs_[s.index].root].detach());
    } else {
      saved.push_back(std::move(made[s.index]));
    }
  }
  auto node = make_intrusive<CompiledBackward>(shared_from_this(), std::move(saved), std::move(scalars), draws);
  node->line = line_;
  node->num_outputs = static_cast<uint32_t>(backward_->outputs.size());
  for (Handle leaf : backward_->leaves) node->edges.push_back(gradient_edge(handles[leaf]));
  for (size_t i = 0; i < backward_->outputs.size(); ++i)
    set_history(handles[backward_->outputs[i]], node, static_cast<uint32_t>(i));
}

}  // namespace fuselet::match
