#include "compiler/plan/planned_executable.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "compiler/ir/legality.h"
#include "compiler/ir/node_call.h"
#include "core/dispatch.h"
#include "core/ops/functions.h"

namespace fuselet::plan {
namespace {

// Where a base value's memory comes from, for one pointer of a launch.
struct Pointer {
  Place place;
  int32_t index;
  int64_t offset;
};

struct Launch {
  const CompiledKernel* kernel = nullptr;
  int32_t node = -1;  // the call; with a kernel, which then runs on each part of the call's result
  // Of the kernel: its part of the flat parameter arrays.
  size_t first_pointer = 0, first_scalar = 0, first_draw = 0;
  int64_t scratch = 0;  // offset in the arena
};

// A cell after its advances. Adding 0 would turn -0 into 0.
double advanced(double value, double by) { return by == 0 ? value : value + by; }

// What one call in flight uses.
struct Context {
  uint64_t queue = 0;  // whose launches use it: those of another may still be running
  StoragePtr arena;
  std::vector<void*> pointers;
  std::vector<double> scalars;
  std::vector<GeneratorState> draws;
  std::vector<Tensor> values;   // of the graph, where a call or the caller needs a tensor
  std::vector<CellPtr> cells;   // what calls read scalars from
  std::vector<Tensor> results;  // by MemoryPlan::own_storage
};

class PlannedExecutable final : public Executable {
 public:
  PlannedExecutable(ExecutableParts parts, const lower::GraphFacts& facts)
      : parts_(std::move(parts)), base_(facts.base) {
    arena_bytes_ = parts_.memory.arena_bytes;
    device_ = ir::device_of(parts_.graph);
    const std::vector<bool> in_use = ir::values_in_use(parts_.graph);
    for (size_t i = 0; i < parts_.graph.inputs.size(); ++i) {
      const ir::ValueId v = parts_.graph.inputs[i].value;
      if (in_use[static_cast<size_t>(v)] && parts_.graph.meta(v).device != device_) host_inputs_.push_back(i);
    }
    for (const Step& step : parts_.order.steps) add_launch(step, facts);
    find_tensors();
  }

  const ir::Graph& graph() const override { return parts_.graph; }

  RunOutputs run(const RunInputs& in) const override {
    if (host_inputs_.empty()) return run_on_device(in);
    std::vector<Tensor> inputs(in.inputs.begin(), in.inputs.end());
    for (size_t i : host_inputs_) inputs[i] = transfer(inputs[i], device_);
    return run_on_device({inputs, in.scalars, in.draws});
  }

 private:
  RunOutputs run_on_device(const RunInputs& in) const {
    std::unique_ptr<Context> context = take_context();
    try {
      RunOutputs out = run_in(*context, in);
      give_back(std::move(context));
      return out;
    } catch (...) {
      context->results.clear();
      throw;
    }
  }

  // A call by itself whose results have no elements, and which finds no error either: devices need no kernel for it.
  bool does_nothing(const Step& step) const {
    return step.kernel < 0 && !step.may_fail && std::all_of(step.writes.begin(), step.writes.end(), [&](ir::ValueId v) {
             return numel_of(parts_.graph.meta(v).sizes).concrete() == 0;
           });
  }

  void add_launch(const Step& step, const lower::GraphFacts& facts) {
    if (does_nothing(step)) return;
    Launch& launch = launches_.emplace_back();
    if (step.node >= 0) {
      launch.node = step.node;
      for (size_t c = 0; c < parts_.graph.cells.size(); ++c)
        call_advances_.push_back(facts.advanced_before(step.node, static_cast<int32_t>(c)));
    }
    if (step.kernel < 0) return;
    const auto k = static_cast<size_t>(step.kernel);
    const lower::LoweredKernel& lowered = parts_.kernels[k];
    launch.kernel = parts_.compiled[k].get();
    launch.first_pointer = pointers_.size();
    launch.first_scalar = scalars_.size();
    launch.first_draw = draws_.size();
    for (ir::ValueId v : lowered.buffers) {
      const Slot& slot = parts_.memory.slots[static_cast<size_t>(v)];
      pointers_.push_back({slot.place, slot.index, slot.offset});
    }
    scalars_.insert(scalars_.end(), lowered.scalars.begin(), lowered.scalars.end());
    draws_.insert(draws_.end(), lowered.draws.begin(), lowered.draws.end());
    // Scratch is dead between launches: all kernels share one place behind the values.
    launch.scratch = parts_.memory.arena_bytes;
    arena_bytes_ = std::max(arena_bytes_, parts_.memory.arena_bytes + parts_.scratch_bytes[k]);
  }

  // Values that a call reads or writes, and which of them have to be made anew for every run.
  void find_tensors() {
    const ir::Graph& g = parts_.graph;
    std::vector<bool> wanted(g.values.size(), false);
    for (const Launch& l : launches_) {
      if (l.node < 0) continue;
      const ir::Node& node = g.nodes[static_cast<size_t>(l.node)];
      ir::for_each_operand(node, [&](ir::ValueId v) { wanted[static_cast<size_t>(v)] = true; });
      for (ir::ValueId v : node.outputs) wanted[static_cast<size_t>(v)] = true;
    }
    for (size_t w : parts_.memory.copied_writes) wanted[static_cast<size_t>(g.writes[w].value)] = true;
    for (size_t v = 0; v < wanted.size(); ++v) {
      if (!wanted[v]) continue;
      const Slot& slot = parts_.memory.slots[static_cast<size_t>(base_[v])];
      (slot.place == Place::Arena ? fixed_tensors_ : fresh_tensors_).push_back(static_cast<ir::ValueId>(v));
    }
  }

  std::unique_ptr<Context> take_context() const {
    const uint64_t queue = target_of(device_.type).current_queue(device_);
    {
      std::lock_guard lock(mutex_);
      auto fits = std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& c) { return c->queue == queue; });
      if (fits != idle_.rend()) {
        std::unique_ptr<Context> c = std::move(*fits);
        idle_.erase(std::next(fits).base());
        return c;
      }
    }
    auto c = std::make_unique<Context>();
    c->queue = queue;
    if (arena_bytes_ > 0) c->arena = make_intrusive<Storage>(static_cast<size_t>(arena_bytes_), device_);
    c->pointers.resize(pointers_.size());
    for (size_t i = 0; i < pointers_.size(); ++i) {
      if (pointers_[i].place == Place::Arena) c->pointers[i] = arena_at(*c, pointers_[i].offset);
    }
    c->scalars.resize(scalars_.size());
    c->draws.resize(draws_.size());
    c->values.resize(parts_.graph.values.size());
    for (ir::ValueId v : fixed_tensors_) {
      const Slot& slot = parts_.memory.slots[static_cast<size_t>(base_[static_cast<size_t>(v)])];
      c->values[static_cast<size_t>(v)] = over(
          make_intrusive<Storage>(arena_at(*c, slot.offset), static_cast<size_t>(slot.bytes), device_, [] {}), 0, v);
    }
    for (const std::string& name : parts_.graph.cells) c->cells.push_back(make_intrusive<HostCell>(0.0, name));
    return c;
  }

  void give_back(std::unique_ptr<Context> c) const {
    if (c->arena && !parts_.keep_memory) return;
    c->results.clear();
    for (ir::ValueId v : fresh_tensors_) c->values[static_cast<size_t>(v)] = Tensor();
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(c));
  }

  static void* arena_at(const Context& c, int64_t offset) { return static_cast<std::byte*>(c.arena->data()) + offset; }

  // Value `v` over a storage in which its base begins at element `start`.
  Tensor over(StoragePtr storage, SymInt start, ir::ValueId v) const {
    const TensorMeta& m = parts_.graph.meta(v);
    return Tensor(make_intrusive<TensorImpl>(std::move(storage), m.sizes, m.strides, start + m.offset, m.dtype));
  }

  // A tensor of the caller's for value `v`: over an input, or over memory of this run.
  Tensor tensor_of(const Context& c, const RunInputs& in, ir::ValueId v) const {
    const ir::ValueId base = base_[static_cast<size_t>(v)];
    const Slot& slot = parts_.memory.slots[static_cast<size_t>(base)];
    const auto i = static_cast<size_t>(slot.index);
    if (slot.place == Place::Output) return v == base ? c.results[i] : over(c.results[i].impl()->storage(), 0, v);
    if (slot.place == Place::Arena) return c.values[static_cast<size_t>(v)];
    const Tensor& input = in.inputs[i];
    return v == base && parts_.graph.values[static_cast<size_t>(v)].node < 0
               ? input
               : over(input.impl()->storage(), input.impl()->offset(), v);
  }

  // A call counts the offsets of strided views from the start of the storage, the graph from an input's first element.
  Tensor tensor_for_call(const Context& c, const RunInputs& in, ir::ValueId v) const {
    const Slot& slot = parts_.memory.slots[static_cast<size_t>(base_[static_cast<size_t>(v)])];
    if (slot.place != Place::Input) return tensor_of(c, in, v);
    const Tensor& input = in.inputs[static_cast<size_t>(slot.index)];
    const TensorImpl& impl = *input.impl();
    if (impl.offset() == 0) return tensor_of(c, in, v);
    const size_t before = static_cast<size_t>(impl.offset().word()) * size_of(impl.dtype());
    return over(make_intrusive<Storage>(impl.data(), impl.storage()->bytes() - before, device_, [input] {}), 0, v);
  }

  void bind(Context& c, const RunInputs& in) const {
    for (ir::ValueId v : parts_.memory.own_storage) {
      const auto bytes = static_cast<size_t>(parts_.memory.slots[static_cast<size_t>(v)].bytes);
      c.results.push_back(over(make_intrusive<Storage>(bytes, device_), 0, v));
    }
    for (size_t i = 0; i < pointers_.size(); ++i) {
      const Pointer& p = pointers_[i];
      if (p.place == Place::Input) c.pointers[i] = in.inputs[static_cast<size_t>(p.index)].impl()->data();
      if (p.place == Place::Output) c.pointers[i] = c.results[static_cast<size_t>(p.index)].impl()->data();
    }
    for (size_t i = 0; i < scalars_.size(); ++i)
      c.scalars[i] = advanced(in.scalars[static_cast<size_t>(scalars_[i].cell)], scalars_[i].plus);
    for (size_t i = 0; i < draws_.size(); ++i)
      c.draws[i] = {in.draws.seed, in.draws.draws + static_cast<uint64_t>(draws_[i])};
    for (ir::ValueId v : fresh_tensors_) c.values[static_cast<size_t>(v)] = tensor_for_call(c, in, v);
  }

  RunOutputs run_in(Context& c, const RunInputs& in) const {
    bind(c, in);
    size_t call = 0;
    for (const Launch& l : launches_) {
      if (l.node >= 0) {
        run_call(c, in, l, call++);
      } else if (const int failed = launch(c, l, c.arena ? arena_at(c, l.scratch) : nullptr)) {
        fail_index(l, failed - 1);
      }
    }
    return collect(c, in);
  }

  static int launch(const Context& c, const Launch& l, void* scratch) {
    return l.kernel->launch(c.pointers.data() + l.first_pointer, c.scalars.data() + l.first_scalar,
                            c.draws.data() + l.first_draw, scratch);
  }

  // The call with the kernel on each part of its result. The interpreter takes no parts: it runs when all is there.
  void run_with_post_work(const Context& c, const Launch& l, const Call& call) const {
    std::atomic<int> failed = 0;
    auto on_part = [&](const kernel::TileRange& part) {
      kernel::TileRange range = part;
      if (const int which = launch(c, l, &range)) failed = which;
    };
    if (l.kernel->origin == KernelOrigin::Interpreted) {
      kernel_of(*call.op, device_.type)(call);
      on_part({});
    } else {
      target_of(device_.type).run_with_post_work(call, on_part);
    }
    if (failed) fail_index(l, failed - 1);
  }

  void run_call(Context& c, const RunInputs& in, const Launch& l, size_t call_index) const {
    const ir::Node& node = parts_.graph.nodes[static_cast<size_t>(l.node)];
    const size_t cells = c.cells.size();
    for (size_t k = 0; k < cells; ++k) c.cells[k]->set(advanced(in.scalars[k], call_advances_[call_index * cells + k]));
    ir::NodeCall call(node, c.values, &c.cells);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Tensor& out = c.values[static_cast<size_t>(node.outputs[i])];
      call.outputs()[i] = out;
    }
    if (l.kernel) return run_with_post_work(c, l, call.get());
    const Kernel kernel = kernel_of(*call.get().op, device_.type);
    if (node.draw >= 0) {
      ReplayDrawScope draw({in.draws.seed, in.draws.draws + static_cast<uint64_t>(node.draw)});
      kernel(call.get());
    } else {
      kernel(call.get());
    }
  }

  RunOutputs collect(Context& c, const RunInputs& in) const {
    const ir::Graph& g = parts_.graph;
    RunOutputs out;
    auto result = [&](ir::ValueId v) {
      Tensor t = tensor_of(c, in, v);
      // Memory of an input that the graph writes would change under the caller.
      const Slot& slot = parts_.memory.slots[static_cast<size_t>(base_[static_cast<size_t>(v)])];
      const bool is_written =
          slot.place == Place::Input &&
          std::any_of(g.writes.begin(), g.writes.end(), [&](const ir::Write& w) { return w.input == slot.index; });
      return is_written ? t.clone() : t;
    };
    NoGradGuard no_grad;
    for (ir::ValueId v : g.outputs) out.outputs.push_back(result(v));
    for (const ir::Write& w : g.grads) out.grads.push_back(result(w.value));
    std::vector<Tensor> copied;
    for (size_t w : parts_.memory.copied_writes) copied.push_back(result(g.writes[w].value));
    for (size_t i = 0; i < copied.size(); ++i)
      Tensor(in.inputs[static_cast<size_t>(g.writes[parts_.memory.copied_writes[i]].input)]).copy_(copied[i]);
    for (const InPlaceWrite& p : parts_.order.in_place)
      in.inputs[static_cast<size_t>(g.writes[p.write].input)].impl()->storage()->bump_version();
    return out;
  }

  [[noreturn]] void fail_index(const Launch& l, int which) const {
    for (size_t k = 0; k < parts_.compiled.size(); ++k) {
      if (parts_.compiled[k].get() != l.kernel) continue;
      int seen = 0;
      for (const kernel::Stage& stage : parts_.kernels[k].kernel.stages) {
        for (const kernel::Nest& nest : stage.nests) {
          for (const kernel::Statement& s : nest.body) {
            if (s.kind != kernel::Kind::LoadAt || seen++ != which) continue;
            throw IndexError(concat(s.note, ": an index is out of range for a dimension of size ", s.indices[0].size));
          }
        }
      }
    }
    throw IndexError("an index is out of range");
  }

  ExecutableParts parts_;
  std::vector<ir::ValueId> base_;
  std::vector<Launch> launches_;
  std::vector<Pointer> pointers_;
  std::vector<lower::ScalarRead> scalars_;
  std::vector<int32_t> draws_;
  std::vector<double> call_advances_;  // per call and cell
  std::vector<ir::ValueId> fixed_tensors_, fresh_tensors_;
  int64_t arena_bytes_ = 0;
  Device device_;
  std::vector<size_t> host_inputs_;  // numbers that lie elsewhere than on the device
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Context>> idle_;
};

}  // namespace

std::shared_ptr<const Executable> make_executable(ExecutableParts parts, const lower::GraphFacts& facts) {
  return std::make_shared<PlannedExecutable>(std::move(parts), facts);
}

}  // namespace fuselet::plan
