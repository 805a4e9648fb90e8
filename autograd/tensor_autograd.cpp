// The autograd members of Tensor.
#include <algorithm>

#include "autograd/engine.h"
#include "autograd/grad_node.h"
#include "core/dispatch_state.h"
#include "core/recording.h"
#include "core/tensor.h"

namespace fuselet {

bool Tensor::view_has_history() const { return static_cast<bool>(gradient_edge(*this).node); }

Tensor& Tensor::requires_grad_(bool on) {
  if (CompiledCall* call = dispatch_state().compiled_call) {
    call->set_requires_grad(*this, on);
    return *this;
  }
  FUSELET_CHECK(!on || is_float(dtype()), "requires_grad_: only floating tensors can require grad, got ",
                name_of(dtype()));
  FUSELET_CHECK(
      is_leaf(),
      "requires_grad_: only a leaf can change whether it requires grad; use detach() for a tensor outside the graph");
  if (on || impl_->autograd()) impl_->make_autograd().requires_grad = on;
  return *this;
}

Tensor Tensor::grad() const {
  const AutogradMeta* a = impl_->autograd();
  if (!a) return Tensor();
  if (a->retained && *a->retained) return Tensor(*a->retained);
  return Tensor(a->grad);
}

void Tensor::set_grad(Tensor grad) {
  if (grad.defined()) {
    FUSELET_CHECK(grad.impl() != impl(), "set_grad: a tensor cannot be its own gradient");
    FUSELET_CHECK(same_sizes(grad.sizes(), sizes()) && grad.dtype() == dtype(),
                  "set_grad: expected a gradient of shape ", to_string(sizes()), " and dtype ", name_of(dtype()),
                  ", got ", to_string(grad.sizes()), " and ", name_of(grad.dtype()));
    FUSELET_CHECK(grad.device() == device(), "set_grad: the tensor is on ", to_string(device()), ", the gradient on ",
                  to_string(grad.device()));
  }
  if (CompiledCall* call = dispatch_state().compiled_call) return call->set_grad(*this, grad);
  if (Recording* recording = dispatch_state().recording) recording->before_grad_change(*impl_);
  if (grad.defined() || impl_->autograd()) impl_->make_autograd().grad = grad.ptr();
}

void Tensor::backward(const Tensor& gradient, bool retain_graph, bool create_graph, Location line) const {
  LineScope scope(&line);
  fuselet::backward({*this}, {gradient}, {retain_graph, create_graph});
}

int64_t Tensor::register_hook(TensorHook hook) const {
  if (CompiledCall* call = dispatch_state().compiled_call) call->refuse("register_hook()");
  FUSELET_CHECK(requires_grad(), "register_hook: the tensor does not require grad");
  AutogradMeta& a = impl_->make_autograd();
  if (!a.hooks) a.hooks = std::make_shared<HookList>();
  int64_t id = a.hooks->next_id++;
  Edge edge = gradient_edge(*this);
  if (edge.node) {
    auto on_node = std::make_shared<NodeHook>();
    on_node->run = std::move(hook);
    a.hooks->hooks_on_nodes.emplace_back(id, on_node);
    // What retain_grad() keeps is what all hooks have left.
    auto& hooks = edge.node->hooks;
    auto at = std::find_if(hooks.begin(), hooks.end(),
                           [&](const auto& h) { return h.first == edge.index && h.second->retained; });
    hooks.emplace(at, edge.index, std::move(on_node));
  } else {
    a.hooks->hooks.emplace_back(id, std::move(hook));
  }
  return id;
}

void Tensor::remove_hook(int64_t id) const {
  const AutogradMeta* a = impl_->autograd();
  if (!a || !a->hooks) return;
  std::erase_if(a->hooks->hooks, [&](const auto& h) { return h.first == id; });
  std::erase_if(a->hooks->hooks_on_nodes, [&](const auto& h) {
    if (h.first != id) return false;
    if (std::shared_ptr<NodeHook> hook = h.second.lock()) hook->removed = true;
    return true;
  });
  // The tensor's own node lets go of the hook at once, another one when it dies.
  if (Edge edge = gradient_edge(*this); edge.node) {
    std::erase_if(edge.node->hooks, [](const auto& h) { return h.second->removed.load(); });
  }
}

void Tensor::retain_grad() const {
  FUSELET_CHECK(requires_grad(), "retain_grad: the tensor does not require grad");
  if (is_leaf()) return;
  if (CompiledCall* call = dispatch_state().compiled_call) call->refuse("retain_grad()");
  AutogradMeta& a = impl_->make_autograd();
  if (a.retained) return;
  a.retained = std::make_shared<TensorImplPtr>();
  Edge edge = gradient_edge(*this);
  auto hook = std::make_shared<NodeHook>();
  hook->retained = a.retained;
  edge.node->hooks.emplace_back(edge.index, std::move(hook));
}

}  // namespace fuselet
