// The two layers of dispatch that a recording switches on. Functionalise turns an in-place call into its functional
// form and a write of the recording; trace appends a node and hands out deferred tensors. Nothing executes.
#include "compiler/ir/node_call.h"
#include "compiler/trace/recorder.h"
#include "core/dispatch.h"

namespace fuselet::trace {
namespace {

std::vector<TensorMeta> infer(const Call& call) {
  std::vector<TensorMeta> metas(static_cast<size_t>(call.num_outs));
  call.op->shape(call, metas.data());
  Device device = result_device_of(call);
  for (TensorMeta& m : metas) m.device = device;
  return metas;
}

void trace_layer(Call& call) {
  Recorder& recorder = current_recorder();
  std::vector<TensorMeta> metas = infer(call);
  bool is_view = call.op->kind == OpKind::View;
  if (is_view) recorder.value_of(call.tensor(0));  // the view shares the storage of a tensor that the recording knows
  std::vector<ir::ValueId> values = recorder.add_node(call, metas).outputs;
  for (size_t i = 0; i < metas.size(); ++i) {
    call.outs[i] = is_view ? make_view(call, metas[i]) : ir::stand_in(metas[i]);
    recorder.define(call.outs[i], values[i], is_view);
  }
}

void functionalise_layer(Call& call) {
  if (!call.in_place) return dispatch_below(Layer::Functionalise, call);
  std::vector<Tensor> targets = mutated_tensors(call);
  std::vector<TensorMeta> metas = infer(call);
  for (size_t i = 0; i < targets.size(); ++i) check_writable(call, targets[i], metas[i]);
  std::vector<Tensor> fresh(static_cast<size_t>(call.num_outs));
  Call functional = call;
  functional.in_place = false;
  functional.outs = fresh.data();
  dispatch_below(Layer::Functionalise, functional);
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (i >= targets.size()) {
      call.outs[i] = fresh[i];
      continue;
    }
    Tensor value = fresh[i];
    if (value.dtype() != targets[i].dtype()) {
      Arg args[] = {Arg(value), Arg(targets[i].dtype())};
      Tensor converted;
      Call cast{&op_of(OpId::cast), args, 2, &converted, 1, false, call.line};
      dispatch_below(Layer::Functionalise, cast);
      value = converted;
    }
    Recorder& recorder = current_recorder();
    recorder.write(targets[i], recorder.value_of(value));
  }
}

}  // namespace

void register_trace_layers() {
  register_layer(Layer::Functionalise, functionalise_layer);
  register_layer(Layer::Trace, trace_layer);
}

}  // namespace fuselet::trace
