#include "compiler/trace/record.h"

#include <optional>

#include "compiler/replay/interpret.h"
#include "compiler/replay/layout.h"
#include "compiler/trace/recorder.h"
#include "core/dispatch.h"
#include "core/ops/functions.h"

namespace fuselet {
namespace {

// Cells as they were; restored if a run fails half-way.
std::vector<double> cell_values(const std::vector<CellPtr>& cells) {
  std::vector<double> out;
  for (const CellPtr& c : cells) out.push_back(c->get());
  return out;
}

struct RunResult {
  std::vector<Tensor> outputs, written, grads;
};

RunResult run_graph(const ir::Graph& g, const std::vector<Tensor>& inputs, const std::vector<CellPtr>& cells) {
  std::vector<ir::ValueId> wanted = g.outputs;
  for (const ir::Write& w : g.writes) wanted.push_back(w.value);
  for (const ir::Write& w : g.grads) wanted.push_back(w.value);
  std::vector<double> before = cell_values(cells);
  GeneratorState draws = default_generator().state();
  try {
    std::vector<Tensor> values =
        replay::interpret(g, inputs, cells, default_generator().next_draw(static_cast<uint64_t>(g.draws)), wanted);
    auto at = values.begin();
    auto take = [&](size_t n) {
      std::vector<Tensor> part(at, at + static_cast<std::ptrdiff_t>(n));
      at += static_cast<std::ptrdiff_t>(n);
      return part;
    };
    RunResult r;
    r.outputs = take(g.outputs.size());
    r.written = take(g.writes.size());
    r.grads = take(g.grads.size());
    return r;
  } catch (...) {
    for (size_t i = 0; i < cells.size(); ++i) cells[i]->set(before[i]);
    default_generator().set_state(draws);
    throw;
  }
}

// All values exist before the first write, so a value that still is an input's own memory must be copied out first.
void write_back(const ir::Graph& g, const std::vector<Tensor>& inputs, RunResult& r) {
  NoGradGuard no_grad;
  auto shares_input = [&](const Tensor& t) {
    for (const ir::Write& w : g.writes) {
      if (inputs[static_cast<size_t>(w.input)].impl()->storage() == t.impl()->storage()) return true;
    }
    return false;
  };
  for (std::vector<Tensor>* list : {&r.outputs, &r.written, &r.grads}) {
    for (Tensor& t : *list) {
      if (shares_input(t)) t = t.clone();
    }
  }
  for (size_t i = 0; i < g.writes.size(); ++i) inputs[static_cast<size_t>(g.writes[i].input)].copy_(r.written[i]);
}

// The inputs for a run: the strided views in the graph count on the recorded layout of the arguments.
std::vector<Tensor> in_recorded_layout(const ir::Graph& g, std::vector<Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorMeta& meta = g.meta(g.inputs[i].value);
    if (g.inputs[i].kind == ir::InputKind::Argument && !replay::has_layout(inputs[i], meta))
      inputs[i] = replay::copy_in_layout(inputs[i], meta);
  }
  return inputs;
}

// Gives the leaves their gradients back unless the recording has run: what they hold would be values without memory.
class GradRestorer {
 public:
  explicit GradRestorer(const trace::Recorder& recorder) : recorder_(recorder) {}
  GradRestorer(const GradRestorer&) = delete;
  ~GradRestorer() {
    if (succeeded_) return;
    for (const trace::ChangedGrad& changed : recorder_.changed_grads())
      changed.leaf.impl()->make_autograd().grad = changed.before;
  }
  void succeeded() { succeeded_ = true; }

 private:
  const trace::Recorder& recorder_;
  bool succeeded_ = false;
};

struct LiveStorage {
  StoragePtr storage;
  TensorMeta base;
  ir::ValueId value;
};

// Storages made by the recording that somebody outside it still holds.
std::vector<LiveStorage> live_storages(trace::Recorder& recorder) {
  std::vector<LiveStorage> out;
  for (trace::AliasGroup* group : recorder.groups()) {
    if (group->input < 0 && group->storage->use_count() > 1) out.push_back({group->storage, group->base, group->value});
  }
  return out;
}

}  // namespace

RecordedFunction record(const RecordedBody& f, const std::vector<Tensor>& args, RecordOptions options) {
  FUSELET_CHECK(!dispatch_state().recording, "record: a recording is already running on this thread");
  trace::Recorder recorder(options.name);
  for (const auto& [name, tensor] : options.names) recorder.name_tensor(tensor, name);
  for (const Tensor& t : args) recorder.add_argument(t);
  RecordedFunction out;
  std::vector<Tensor> results;
  GradRestorer restorer(recorder);
  {
    trace::RecordingScope scope(recorder);
    results = f(args);
    recorder.check_cells();
    for (const Tensor& t : results) recorder.graph().outputs.push_back(recorder.value_of(t));
  }
  out.num_results_ = results.size();
  ir::Graph& g = recorder.graph();
  std::vector<LiveStorage> live = live_storages(recorder);
  for (trace::AliasGroup* group : recorder.groups()) {
    if (group->input >= 0 && group->written) g.writes.push_back({group->input, group->value});
  }
  for (const trace::ChangedGrad& changed : recorder.changed_grads()) {
    const TensorImplPtr& grad = changed.leaf.impl()->autograd()->grad;
    if (!grad || !grad->is_deferred() || changed.leaf.impl()->is_deferred()) continue;
    trace::RecordingScope scope(recorder);
    g.grads.push_back({recorder.input_of(changed.leaf), recorder.value_of(Tensor(grad))});
    out.grad_owners_.push_back(changed.leaf);
  }
  std::vector<Tensor> inputs = recorder.lifted();
  for (const LiveStorage& l : live) g.outputs.push_back(l.value);
  ir::number_in_order(g);
  ir::verify(g);
  out.graph_ = std::move(g);
  out.lifted_ = inputs;
  out.cells_ = recorder.cells();
  RunResult r = run_graph(out.graph_, in_recorded_layout(out.graph_, inputs), out.cells_);
  write_back(out.graph_, inputs, r);
  for (size_t i = 0; i < out.num_results_; ++i)
    r.outputs[i] = Tensor();  // the handles that f returned are among the live ones
  r.written.clear();
  r.grads.clear();
  for (size_t i = 0; i < live.size(); ++i) {
    Tensor held = replay::in_layout(std::exchange(r.outputs[out.num_results_ + i], Tensor()), live[i].base);
    live[i].storage->take(*held.impl()->storage());
  }
  restorer.succeeded();
  // Replays give back what f returned; the other live storages were this call's own.
  out.graph_.outputs.resize(out.num_results_);
  for (size_t i = 0; i < args.size(); ++i) out.lifted_[i] = Tensor();
  out.first_outputs_ = std::move(results);
  return out;
}

std::vector<Tensor> RecordedFunction::operator()(const std::vector<Tensor>& args) const {
  FUSELET_CHECK(!dispatch_state().recording, graph_.name, ": a recorded function is called inside a recording");
  std::vector<Tensor> inputs = lifted_;
  size_t given = 0;
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    if (graph_.inputs[i].kind != ir::InputKind::Argument) continue;
    FUSELET_CHECK(given < args.size(), graph_.name, ": expected more than ", args.size(), " arguments");
    const TensorMeta& m = graph_.meta(graph_.inputs[i].value);
    const Tensor& t = args[given++];
    FUSELET_CHECK(t.defined(), graph_.name, ": argument ", given - 1, " is undefined");
    FUSELET_CHECK(same_sizes(t.sizes(), m.sizes) && t.dtype() == m.dtype && t.device() == m.device, graph_.name,
                  ": argument ", given - 1, " was recorded as ", name_of(m.dtype), to_string(m.sizes), ", got ",
                  name_of(t.dtype()), to_string(t.sizes()));
    inputs[i] = t;
  }
  FUSELET_CHECK(given == args.size(), graph_.name, ": expected ", given, " arguments, got ", args.size());
  NoGradGuard no_grad;
  RunResult r = run_graph(graph_, in_recorded_layout(graph_, inputs), cells_);
  write_back(graph_, inputs, r);
  for (size_t i = 0; i < r.grads.size(); ++i) Tensor(grad_owners_[i]).set_grad(r.grads[i]);
  return r.outputs;
}

}  // namespace fuselet
