// VJPs of fused operators, and the one that follows from a decomposition.
#include "autograd/engine.h"
#include "autograd/op_node.h"
#include "core/decomposition.h"
#include "core/dispatch_state.h"
#include "core/ops/decompositions.h"
#include "core/ops/functions.h"

namespace fuselet {

void differentiate_decomposition(VjpContext& c) {
  OpNode& node = c.node_;
  bool keep_graph = dispatch_state().grad_enabled;
  GradModeGuard on(true);
  size_t n = node.args_.size();
  std::vector<Tensor> inputs(n);
  std::vector<Arg> args(n);
  std::vector<Tensor> wanted;
  std::vector<int> wanted_arg;
  for (size_t i = 0; i < n; ++i) {
    int arg = static_cast<int>(i);
    if (c.list_size(arg) == 0) {
      args[i] = view_of(node.args_[i]);
      continue;
    }
    inputs[i] = c.tensor(arg);
    if (c.needs(arg)) {
      // A place of its own on the tape; connected to the input's history only if the graph is to be kept.
      GradModeGuard mode(keep_graph);
      inputs[i] = alias(inputs[i]);
      if (!inputs[i].requires_grad()) inputs[i].requires_grad_();
      wanted.push_back(inputs[i]);
      wanted_arg.push_back(arg);
    }
    args[i] = Arg(inputs[i]);
  }
  std::vector<Tensor> outs(node.num_outputs), reached, reached_grads;
  Call call{&node.op_, args.data(), static_cast<int>(n), outs.data(), static_cast<int>(outs.size()), false, nullptr};
  decomposition_of(node.op_)(call);
  for (size_t i = 0; i < outs.size(); ++i) {
    if (!c.grad(i).defined() || !outs[i].requires_grad()) continue;
    reached.push_back(outs[i]);
    reached_grads.push_back(c.grad(i));
  }
  if (reached.empty() || wanted.empty()) return;
  std::vector<Tensor> gradients = grad(reached, wanted, reached_grads, {keep_graph, keep_graph}, true);
  for (size_t k = 0; k < wanted.size(); ++k) c.set(wanted_arg[k], gradients[k]);
}

namespace vjp {

void softmax(VjpContext& c) { c.set(0, softmax_grad(c.grad(), c.result(), c.integer(1))); }
void log_softmax(VjpContext& c) { c.set(0, log_softmax_grad(c.grad(), c.result(), c.integer(1))); }

void dropout_forward(VjpContext& c) { c.set(0, fuselet::dropout_grad(c.grad(), c.result(1), c.number(1))); }
void dropout_grad(VjpContext& c) { c.set(0, fuselet::dropout_grad(c.grad(), c.tensor(1), c.number(2))); }

// Differentiating again goes through mean and rstd too, so then they are taken from the input anew.
void layer_norm_forward(VjpContext& c) {
  FUSELET_CHECK(
      !c.grad(1).defined() && !c.grad(2).defined(),
      "layer_norm_forward: no gradient flows through its results mean and rstd; compute them with mean() and var()");
  Tensor x = c.tensor(0), weight = c.tensor(2);
  std::array<Tensor, 3> g;
  if (dispatch_state().grad_enabled) {
    auto [y, mean, rstd] = decompose::layer_norm_forward(x, c.ints(1), {}, {}, c.number(4));
    g = decompose::layer_norm_grad(c.grad(0), x, mean, rstd, weight, c.ints(1));
  } else {
    g = layer_norm_grad(c.grad(0), x, c.result(1), c.result(2), weight, c.ints(1));
  }
  if (c.needs(0)) c.set(0, g[0]);
  if (c.needs(2)) c.set(2, g[1]);
  if (c.needs(3)) c.set(3, g[2]);
}

void cross_entropy_forward(VjpContext& c) {
  std::string reduction = c.text(3);
  c.set(0, cross_entropy_grad(c.grad(), c.tensor(0), c.tensor(1), c.tensor(2), reduction.c_str(), c.integer(4),
                              c.number(5)));
}

}  // namespace vjp
}  // namespace fuselet
