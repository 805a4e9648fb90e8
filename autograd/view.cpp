#include "autograd/view.h"

#include "autograd/memory_layout.h"
#include "core/dispatch_state.h"
#include "core/ops/functions.h"

namespace fuselet {
namespace {

// The base after a write into a strided view of it. Edge 0: the base before; edge 1: the operator that wrote.
class ViewWriteNode final : public GradNode {
 public:
  ViewWriteNode(Geometry base, Geometry view) : base_(std::move(base)), view_(std::move(view)) {}
  std::string name() const override { return "view_write"; }
  std::vector<Tensor> apply(std::vector<Tensor> grads) override {
    if (!grads[0].defined()) return {Tensor(), Tensor()};
    Tensor g = in_memory_order(grads[0], base_);
    SymInt offset = view_.offset - base_.offset;
    Tensor rest = as_strided_scatter(g, zeros(view_.sizes, g.dtype(), g.device()), view_.sizes, view_.strides, offset);
    return {from_memory_order(rest, base_), g.as_strided(view_.sizes, view_.strides, offset)};
  }

 private:
  Geometry base_, view_;
};

// A view taken again from its base.
class ViewReadNode final : public GradNode {
 public:
  ViewReadNode(Geometry base, Geometry view) : base_(std::move(base)), view_(std::move(view)) {}
  std::string name() const override { return "view_read"; }
  std::vector<Tensor> apply(std::vector<Tensor> grads) override {
    if (!grads[0].defined()) return {Tensor()};
    Dims memory_sizes = sizes_in_memory(base_);
    Tensor g = as_strided_grad(grads[0], memory_sizes, contiguous_strides(memory_sizes), view_.strides,
                               view_.offset - base_.offset);
    return {from_memory_order(g, base_)};
  }

 private:
  Geometry base_, view_;
};

uint32_t generation_of(const TensorImpl& base) { return base.autograd() ? base.autograd()->view_generation : 0; }

}  // namespace

void remember_base(const Tensor& self, const Tensor& out) {
  const AutogradMeta* own = self.impl()->autograd();
  TensorImplPtr base = own && own->view_base ? own->view_base : self.ptr();
  AutogradMeta& meta = out.impl()->make_autograd();
  meta.base_generation = generation_of(*base);
  meta.view_base = std::move(base);
}

Edge gradient_edge(const Tensor& t) {
  AutogradMeta* a = t.impl()->autograd();
  if (!a) return {};
  if (a->view_base && a->base_generation != generation_of(*a->view_base)) {
    Tensor base(a->view_base);
    Edge base_edge = gradient_edge(base);
    if (base_edge.exists()) {
      auto node = make_intrusive<ViewReadNode>(geometry_of(*base.impl()), geometry_of(*t.impl()));
      node->edges.push_back(std::move(base_edge));
      set_history(t, node, 0);
    }
    a->base_generation = generation_of(*base.impl());
  }
  if (a->grad_fn) return {GradNodePtr(static_cast<GradNode*>(a->grad_fn.get())), a->output_index, {}};
  if (a->requires_grad) return {{}, 0, t.ptr()};
  return {};
}

void check_in_place(const Call& call, const Tensor& target) {
  if (!dispatch_state().grad_enabled) return;
  FUSELET_CHECK(!(target.is_leaf() && target.requires_grad()), call.op->name,
                "_: a leaf tensor that requires grad cannot be written in place; do it under no_grad");
  const AutogradMeta* a = target.impl()->autograd();
  if (!a || !a->view_base) return;
  Tensor base(a->view_base);
  FUSELET_CHECK(!(base.is_leaf() && base.requires_grad()), call.op->name,
                "_: a view of a leaf tensor that requires grad cannot be written in place; do it under no_grad");
}

Edge edge_to_replace(const Tensor& target) {
  const AutogradMeta* a = target.impl()->autograd();
  return a && a->view_base ? gradient_edge(Tensor(a->view_base)) : gradient_edge(target);
}

void rebase_history(const Tensor& target, const GradNodePtr& node, uint32_t index, const Edge& old_base_edge) {
  AutogradMeta& meta = target.impl()->make_autograd();
  if (!meta.view_base) {
    set_history(target, node, index);
    ++meta.view_generation;
    return;
  }
  Tensor base(meta.view_base);
  auto write = make_intrusive<ViewWriteNode>(geometry_of(*base.impl()), geometry_of(*target.impl()));
  write->edges = {old_base_edge, Edge{node, index, {}}};
  set_history(base, write, 0);
  ++base.impl()->make_autograd().view_generation;
}

}  // namespace fuselet
