#include "backends/cuda/eager/run_operator.h"

#include <mutex>
#include <unordered_map>

#include "backends/cuda/device/devices.h"
#include "backends/cuda/eager/operator_key.h"
#include "backends/cuda/eager/strided_copy.h"
#include "backends/cuda/jit/module_library.h"
#include "backends/cuda/kernels.h"
#include "compiler/compile_graph.h"
#include "compiler/ir/node_call.h"
#include "core/generator.h"

namespace fuselet::cuda {
namespace {

using ExecutablePtr = std::shared_ptr<const Executable>;

TensorMeta meta_of(const Tensor& t) {
  TensorMeta m;
  m.sizes = Dims(t.sizes());
  m.strides = Dims(t.strides());
  m.dtype = t.dtype();
  m.device = t.device();
  return m;
}

// The call as a graph of one node, with a cast behind it where an in-place call writes another dtype.
ir::Graph graph_of(const Call& call, Device device, const TensorMeta* metas, const OperatorKey& key) {
  ir::Graph g;
  g.name = call.op->name;
  for (const Tensor& t : key.inputs) g.add_input(ir::InputKind::Argument, std::to_string(g.inputs.size()), meta_of(t));
  size_t next = 0;
  auto value = [&] { return ir::ValueRef{g.inputs[static_cast<size_t>(key.order[next++])].value}; };
  std::vector<ir::GraphArg> args;
  for (int i = 0; i < call.num_args; ++i) {
    const Arg& a = call.args[i];
    if (a.tag == Arg::Tag::Tensor) {
      args.push_back(value());
    } else if (a.tag == Arg::Tag::Tensors) {
      std::vector<ir::ValueRef> list;
      for (uint32_t k = 0; k < a.count; ++k) list.push_back(value());
      args.push_back(std::move(list));
    } else if (a.tag == Arg::Tag::Scalar && is_input(call, a)) {
      args.push_back(ir::CellRef{static_cast<int32_t>(g.cells.size())});
      g.cells.push_back("number" + std::to_string(g.cells.size()));
    } else if (a.tag == Arg::Tag::Scalar && a.scalar->cell()) {
      args.emplace_back(std::in_place_type<Scalar>, a.scalar->to_double());
    } else {
      args.push_back(ir::plain_argument(a));
    }
  }
  const bool draws = call.op->kind == OpKind::Random;
  g.draws = draws ? 1 : 0;
  std::vector<TensorMeta> results(metas, metas + call.num_outs);
  for (TensorMeta& m : results) m.device = device;
  const ir::Origin origin{{0}, concat("in ", call.op->name), false};
  const std::vector<ir::ValueId> made =
      g.add_node(call.op->id, std::move(args), results, origin, draws ? 0 : -1).outputs;
  for (size_t i = 0; i < made.size(); ++i) {
    ir::ValueId v = made[i];
    if (i < key.targets.size() && key.targets[i] >= 0) {
      const TensorMeta& target = g.meta(g.inputs[static_cast<size_t>(key.targets[i])].value);
      if (target.dtype != results[i].dtype) {
        TensorMeta cast = results[i];
        cast.dtype = target.dtype;
        v = g.add_node(OpId::cast, {ir::ValueRef{v}, target.dtype}, {cast}, origin).outputs[0];
      }
    }
    if (key.writes_in_place && i < key.targets.size()) {
      g.writes.push_back({key.targets[i], v});
    } else {
      g.outputs.push_back(v);
    }
  }
  return g;
}

// Executables by key. A thread compiles outside the lock: the same kernel is compiled once (jit/module_library.h).
class OperatorCache {
 public:
  ExecutablePtr find(const std::string& key) {
    std::lock_guard lock(mutex_);
    auto found = known_.find(key);
    return found == known_.end() ? nullptr : found->second;
  }
  void put(const std::string& key, ExecutablePtr executable) {
    std::lock_guard lock(mutex_);
    // Programs whose sizes never repeat would fill memory with launch records.
    if (known_.size() >= kMostEntries) known_.clear();
    known_[key] = std::move(executable);
  }

 private:
  static constexpr size_t kMostEntries = 8192;
  std::mutex mutex_;
  std::unordered_map<std::string, ExecutablePtr> known_;
};

OperatorCache& cache() {
  static auto* cache = new OperatorCache;  // never destroyed: tensors may outlive every other static
  return *cache;
}

RunOutputs run_call(const Call& call, Device device, const TensorMeta* metas, OperatorKey& key) {
  DeviceGuard guard(device.index);
  ExecutablePtr executable = cache().find(key.text);
  if (!executable) {
    jit::warm_up();
    PauseRecordingGuard outside;
    CompileOptions options;
    options.numerics = Numerics::Exact;
    options.keep_memory = false;  // of thousands of executables, each a few bytes
    executable = compile_graph(graph_of(call, device, metas, key), options);
    cache().put(key.text, executable);
  }
  RunInputs in{key.inputs, key.scalars, {}};
  if (call.op->kind == OpKind::Random) in.draws = take_draw();
  return executable->run(in);
}

}  // namespace

bool run_operator(Call& call, Device device, const TensorMeta* metas) {
  if (has_own_kernel(*call.op)) return false;
  if (call.op->id == OpId::copy && call.in_place && call.is_tensor(1) && call.tensor(1).device() == device) {
    const Tensor& source = call.tensor(1);
    copy_into(call.outs[0], source);
    call.outs[0].impl()->storage()->bump_version();
    return true;
  }
  OperatorKey key = key_of(call, device, metas);
  RunOutputs out = run_call(call, device, metas, key);
  size_t next = 0;
  for (int i = 0; i < call.num_outs; ++i) {
    const bool is_target = static_cast<size_t>(i) < key.targets.size();
    if (is_target && key.writes_in_place) continue;
    Tensor& result = out.outputs[next++];
    if (is_target) {
      copy_into(call.outs[i], result);
      call.outs[i].impl()->storage()->bump_version();
    } else {
      call.outs[i] = std::move(result);
    }
  }
  return true;
}

void run_into_outputs(const Call& call) {
  const Device device = call.outs[0].device();
  std::vector<TensorMeta> metas(static_cast<size_t>(call.num_outs));
  call.op->shape(call, metas.data());
  OperatorKey key = key_of(call, device, metas.data());
  RunOutputs out = run_call(call, device, metas.data(), key);
  for (int i = 0; i < call.num_outs; ++i) copy_into(call.outs[i], out.outputs[static_cast<size_t>(i)]);
}

}  // namespace fuselet::cuda
