// A program from the steps that a shadow has carried out.
#include <algorithm>
#include <unordered_set>

#include "autograd/engine.h"
#include "autograd/grad_node.h"
#include "compiler/match/program.h"

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
  program->read_numbers(shadow, steps, numbers);
  program->compile(recorder, settings);
  return program;
}

// Appends the gradients of what survives, computed from tangents, to the recorded graph.
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
  ShadowScope scope(recorder, {false, DType::Float32, {}});
  LineOfRecording of_call(recorder, line_);
  std::vector<Tensor> gradients;
  size_t num_nodes = graph.nodes.size(), num_values = graph.values.size(), num_inputs = graph.inputs.size();
  for (size_t i = 0; i < outputs.size(); ++i)
    tangents.push_back(recorder.add_input(ir::InputKind::Tangent, std::to_string(i), later.gradients[i]));
  try {
    gradients = grad(outputs, leaves, tangents, {true, false}, true);
  } catch (const Error& e) {
    // Eager code would run the forward and fail at the backward.
    later.failure = e.what();
    graph.nodes.resize(num_nodes);
    graph.values.resize(num_values);
    graph.inputs.resize(num_inputs);
  }
  int32_t next = 0;
  for (const Tensor& g : gradients) {
    later.gradient_of_leaf.push_back(g.defined() ? next++ : -1);
    if (g.defined()) graph.outputs.push_back(recorder.value_of(g));
  }
  backward_ = std::move(later);
}

void Program::read_numbers(Shadow& shadow, const std::vector<const StepPattern*>& steps,
                           const std::vector<double>& numbers) {
  const std::vector<CellPtr>& cells = shadow.cells();
  std::vector<char> compared(cells.size(), 0);
  for (const StepPattern* step : steps) {
    for (const ArgPattern& p : step->args) {
      if (p.tag == Arg::Tag::Scalar && p.role == NumberRole::ComparedInput) compared[p.first] = 1;
    }
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i]->was_read() && !compared[i]) pins_.push_back({static_cast<int32_t>(i), numbers[i]});
  }
  for (const CellPtr& cell : shadow.recorder().cells()) {
    auto at = std::find(cells.begin(), cells.end(), cell);
    FUSELET_INTERNAL_CHECK(at != cells.end(), "a compiled call reads a cell that is no number of its steps");
    number_of_cell_.push_back(static_cast<int32_t>(at - cells.begin()));
  }
}

void Program::compile(trace::Recorder& recorder, const CompileSettings& settings) {
  ir::Graph& graph = recorder.graph();
  ir::number_in_order(graph);
  ir::verify(graph);
  report_.graph = graph.name;
  if (!backward_ || !backward_->failure.empty()) {
    forward_ = compile_graph(graph, options_of(settings), &report_);
    return;
  }
  CompiledJoint joint = compile_joint(graph, outputs_.size(), options_of(settings), &report_);
  for (const SavedScalar& s : joint.partition.scalars)
    backward_->number_of_cell.push_back(number_of_cell_[static_cast<size_t>(s.cell)]);
  backward_->saved = std::move(joint.partition.saved);
  forward_ = std::move(joint.forward);
  backward_->executable = std::move(joint.backward);
}

}  // namespace fuselet::match
