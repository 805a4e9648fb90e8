#include "autograd/layer.h"

#include "autograd/op_node.h"
#include "autograd/view.h"
#include "core/dispatch.h"
#include "core/recording.h"

namespace fuselet {
namespace {

bool any_requires_grad(const Call& call) {
  bool any = false;
  for_each_tensor(call, [&](const Tensor& t) { any = any || gradient_edge(t).exists(); });
  return any;
}

// Cheap and certain: no tensor of the call has autograd state at all.
bool untouched_by_autograd(const Call& call) {
  bool untouched = true;
  for_each_tensor(call, [&](const Tensor& t) { untouched = untouched && !t.impl()->autograd(); });
  return untouched;
}

// The tape's node for the call, after the layers below have run it.
IntrusivePtr<OpNode> run_recorded(Call& call) {
  auto node = make_intrusive<OpNode>(call);
  if (dispatch_state().line) node->line = current_line();
  dispatch_below(Layer::Autograd, call);
  node->save_results(call);
  if (const Recording* recording = dispatch_state().recording) {
    node->recorded_origin = dispatch_state().last_recorded;
    node->recorded_in = recording->id();
  }
  return node;
}

void attach(Call& call, const GradNodePtr& node) {
  for (int i = 0; i < call.num_outs; ++i) {
    if (is_float(call.outs[i].dtype())) set_history(call.outs[i], node, static_cast<uint32_t>(i));
  }
}

void run_in_place(Call& call) {
  std::vector<Tensor> targets = mutated_tensors(call);
  for (const Tensor& t : targets) check_in_place(call, t);
  if (!any_requires_grad(call) && !edge_to_replace(targets[0]).exists()) return dispatch_below(Layer::Autograd, call);
  FUSELET_CHECK(call.op->differentiable && targets.size() == 1, call.op->name,
                "_: not differentiable, but one of its tensors requires grad; do it under no_grad");
  const AutogradMeta* a = targets[0].impl()->autograd();
  if (a && a->view_base) {
    FUSELET_CHECK(is_dense(a->view_base->sizes(), a->view_base->strides()), call.op->name,
                  "_: the written view belongs to a tensor with gaps in memory, through which no gradient is recorded; "
                  "clone() it first");
  }
  Edge replaced = edge_to_replace(targets[0]);
  rebase_history(targets[0], run_recorded(call), 0, replaced);
}

void run_view(Call& call, bool records) {
  if (!records) {
    dispatch_below(Layer::Autograd, call);
  } else {
    attach(call, run_recorded(call));
  }
  remember_base(call.tensor(0), call.outs[0]);
}

void autograd_layer(Call& call) {
  if (!dispatch_state().grad_enabled) return dispatch_below(Layer::Autograd, call);
  if (call.in_place) return run_in_place(call);
  bool records = call.op->differentiable && !untouched_by_autograd(call) && any_requires_grad(call);
  if (call.op->kind == OpKind::View) return run_view(call, records);
  if (!records) return dispatch_below(Layer::Autograd, call);
  attach(call, run_recorded(call));
}

}  // namespace

void register_autograd_layer() { register_layer(Layer::Autograd, autograd_layer); }

}  // namespace fuselet
