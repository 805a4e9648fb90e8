#include "autograd/engine.h"

#include <mutex>
#include <queue>
#include <unordered_map>

#include "autograd/grad_node.h"
#include "core/dispatch.h"
#include "core/ops/functions.h"
#include "core/recording.h"

namespace fuselet {
namespace {

// What autograd::grad asks for: the gradient into an output of a node, or into a leaf.
struct Capture {
  const GradNode* node;
  uint32_t index;
  const TensorImpl* leaf;
};

class BackwardRun {
 public:
  BackwardRun(BackwardOptions options, std::vector<Capture> captures, bool capturing)
      : options_(options), captures_(std::move(captures)), capturing_(capturing), captured_(captures_.size()) {}

  void walk(const std::vector<Edge>& roots, const std::vector<Tensor>& root_grads) {
    count_edges(roots);
    GradModeGuard mode(options_.create_graph);
    StateGuard<bool> running(&DispatchState::backward_running, true);
    for (size_t i = 0; i < roots.size(); ++i) deliver(roots[i], root_grads[i]);
    for (const Edge& r : roots) {
      if (r.node) queue_if_ready(r.node.get());
    }
    while (!ready_.empty()) {
      GradNode* node = ready_.top().second;
      ready_.pop();
      run(node);
    }
  }

  // What was asked for, after the hooks of the leaves among it have run.
  std::vector<Tensor> take_captured() {
    GradModeGuard mode(options_.create_graph);
    std::unordered_map<const TensorImpl*, Tensor> hooked;
    for (size_t i = 0; i < captures_.size(); ++i) {
      const TensorImpl* leaf = captures_[i].leaf;
      if (!leaf || !captured_[i].defined()) continue;
      auto [slot, fresh] = hooked.try_emplace(leaf);
      if (fresh) slot->second = run_leaf_hooks(*leaf, captured_[i]);
      captured_[i] = slot->second;
    }
    return std::move(captured_);
  }

  // Writes the sums of the leaves, after the hooks of all of them have run.
  void accumulate() {
    GradModeGuard mode(options_.create_graph);
    std::vector<std::pair<TensorImplPtr, Tensor>> sums;
    for (TensorImplPtr& leaf : leaf_order_)
      sums.emplace_back(leaf, run_leaf_hooks(*leaf, std::move(leaf_sums_[leaf.get()])));
    leaf_sums_.clear();
    static std::mutex mutex;  // several threads may add to one leaf
    std::lock_guard lock(mutex);
    for (auto& [leaf, g] : sums) prepare_sum(*leaf, g);
    for (auto& [leaf, g] : sums) add_to_grad(*leaf, std::move(g));
    write_retained();
  }

  void write_retained() {
    // A copy, for one gradient may have gone to several tensors.
    for (auto& [box, g] : retained_) *box = (options_.create_graph ? g : g.clone(true)).ptr();
  }

 private:
  struct Pending {
    int waiting = 0;  // edges from nodes that have not run yet
    bool queued = false;
    bool wanted = true;  // leads to a captured input
    std::vector<Tensor> grads;
  };

  // Depth first over the tape with an explicit stack.
  void count_edges(const std::vector<Edge>& roots) {
    std::vector<std::pair<GradNode*, size_t>> stack;
    for (const Edge& root : roots) {
      if (!root.node || !pending_.try_emplace(root.node.get()).second) continue;
      kept_.push_back(root.node);
      stack.emplace_back(root.node.get(), 0);
      while (!stack.empty()) {
        auto& [node, next] = stack.back();
        if (next == node->edges.size()) {
          finish_counting(node);
          stack.pop_back();
          continue;
        }
        const Edge& edge = node->edges[next++];
        if (!edge.node) continue;
        auto [slot, fresh] = pending_.try_emplace(edge.node.get());
        ++slot->second.waiting;
        if (!fresh) continue;
        kept_.push_back(edge.node);
        stack.emplace_back(edge.node.get(), 0);
      }
    }
  }

  void finish_counting(GradNode* node) {
    Pending& p = pending_[node];
    p.grads.resize(node->num_outputs);
    if (!capturing_) return;
    p.wanted = false;
    for (const Edge& e : node->edges) {
      p.wanted = p.wanted || (e.node && pending_[e.node.get()].wanted);
      for (const Capture& c : captures_) {
        p.wanted = p.wanted || (c.leaf && c.leaf == e.leaf.get()) || (c.node && c.node == e.node.get());
      }
    }
  }

  static void add_into(Tensor& sum, const Tensor& gradient) { sum = sum.defined() ? sum + gradient : gradient; }

  void deliver(const Edge& edge, const Tensor& gradient) {
    if (!gradient.defined()) return;
    if (edge.node) {
      add_into(pending_[edge.node.get()].grads[edge.index], gradient);
    } else if (edge.leaf && !capturing_) {
      Tensor& sum = leaf_sums_[edge.leaf.get()];
      if (!sum.defined()) leaf_order_.push_back(edge.leaf);
      add_into(sum, gradient);
    } else if (edge.leaf) {
      for (size_t i = 0; i < captures_.size(); ++i) {
        if (captures_[i].leaf == edge.leaf.get()) add_into(captured_[i], gradient);
      }
    }
  }

  void queue_if_ready(GradNode* node) {
    Pending& p = pending_[node];
    if (p.waiting > 0 || p.queued) return;
    p.queued = true;
    ready_.emplace(node->sequence, node);
  }

  void run(GradNode* node) {
    const Recording* recording = dispatch_state().recording;
    bool recorded_here = recording && recording->id() == node->recorded_in;
    StateGuard<int32_t> origin(&DispatchState::forward_origin, recorded_here ? node->recorded_origin : -1);
    Pending& p = pending_[node];
    std::vector<Tensor> grads = std::move(p.grads);
    bool any = false;
    for (uint32_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].defined()) continue;
      any = true;
      run_node_hooks(*node, i, grads[i]);
    }
    for (size_t i = 0; i < captures_.size(); ++i) {
      if (captures_[i].node == node) captured_[i] = grads[captures_[i].index];
    }
    std::vector<Tensor> inputs(node->edges.size());
    if (any && p.wanted) {
      inputs = node->apply(std::move(grads));
      FUSELET_INTERNAL_CHECK(inputs.size() == node->edges.size(),
                             concat("backward of ", node->name(), " gave a wrong number of gradients"));
      if (!options_.retain_graph) node->release_saved();
      if (options_.detect_anomaly) check_for_nan(*node, inputs);
    }
    for (size_t i = 0; i < node->edges.size(); ++i) {
      deliver(node->edges[i], inputs[i]);
      if (GradNode* next = node->edges[i].node.get()) {
        --pending_[next].waiting;
        queue_if_ready(next);
      }
    }
  }

  // What reaches the node has been looked at, so the first one that gives a NaN has made it.
  static void check_for_nan(const GradNode& node, const std::vector<Tensor>& gradients) {
    NoGradGuard no_grad;
    for (size_t i = 0; i < gradients.size(); ++i) {
      const Tensor& g = gradients[i];
      if (!g.defined() || !is_float(g.dtype()) || sum(isnan(g), {}, false).item_int() == 0) continue;
      throw Error(concat("backward: ", node.name(), " gave a NaN as gradient of its input ", i, " of shape ",
                         to_string(g.sizes()),
                         node.line.empty() ? "" : concat("; the forward call stands at ", node.line)));
    }
  }

  void run_node_hooks(const GradNode& node, uint32_t output, Tensor& g) {
    if (node.hooks.empty()) return;
    auto hooks = node.hooks;  // a hook may add and remove hooks
    for (auto& [of, hook] : hooks) {
      if (of != output || hook->removed) continue;
      if (hook->retained) {
        retained_.emplace_back(hook->retained, g);
      } else {
        g = run_hook(hook->run, g);
      }
    }
  }

  static Tensor run_leaf_hooks(const TensorImpl& leaf, Tensor g) {
    const AutogradMeta* a = leaf.autograd();
    if (!a || !a->hooks) return g;
    auto hooks = a->hooks->hooks;  // a hook may remove itself
    for (auto& [id, hook] : hooks) {
      g = run_hook(hook, g);
    }
    return g;
  }

  static Tensor run_hook(const TensorHook& hook, const Tensor& g) {
    Tensor replaced = hook(g);
    if (!replaced.defined()) return g;
    FUSELET_CHECK(same_sizes(replaced.sizes(), g.sizes()) && replaced.dtype() == g.dtype(),
                  "backward: a hook returned a gradient of shape ", to_string(replaced.sizes()), " and dtype ",
                  name_of(replaced.dtype()), ", expected ", to_string(g.sizes()), " and ", name_of(g.dtype()));
    return replaced;
  }

  // Whatever can fail, before the first leaf changes.
  void prepare_sum(TensorImpl& leaf, const Tensor& g) {
    FUSELET_CHECK(same_sizes(g.sizes(), leaf.sizes()) && g.dtype() == leaf.dtype(), "backward: a gradient of shape ",
                  to_string(g.sizes()), " and dtype ", name_of(g.dtype()), " arrived at a leaf of shape ",
                  to_string(leaf.sizes()), " and dtype ", name_of(leaf.dtype()),
                  "; was its data replaced after the forward call?");
    AutogradMeta& a = leaf.make_autograd();
    if (!a.grad) return;
    Tensor held(a.grad);
    FUSELET_CHECK(same_sizes(held.sizes(), g.sizes()) && held.dtype() == g.dtype(), "backward: .grad of shape ",
                  to_string(held.sizes()), " and dtype ", name_of(held.dtype()), " cannot take a gradient of shape ",
                  to_string(g.sizes()), " and dtype ", name_of(g.dtype()));
  }

  // The gradient becomes the leaf's own only if nobody else holds its memory and every element has a cell of its own.
  void add_to_grad(TensorImpl& leaf, Tensor g) {
    if (Recording* recording = dispatch_state().recording) recording->before_grad_change(leaf);
    AutogradMeta& a = leaf.make_autograd();
    if (a.grad) {
      Tensor held(a.grad);
      if (options_.create_graph || reason_not_writable(held)) {
        a.grad = (held + g).ptr();
      } else {
        held.add_(g);
      }
      return;
    }
    bool sole = g.impl()->use_count() == 1 && g.impl()->storage()->use_count() == 1 && is_dense(g.sizes(), g.strides());
    if (options_.create_graph || sole) {
      a.grad = g.ptr();
    } else {
      a.grad = g.clone(true).ptr();
    }
  }

  BackwardOptions options_;
  std::vector<Capture> captures_;
  bool capturing_;
  std::vector<Tensor> captured_;
  std::unordered_map<GradNode*, Pending> pending_;
  std::vector<GradNodePtr> kept_;
  std::priority_queue<std::pair<uint64_t, GradNode*>> ready_;
  std::unordered_map<const TensorImpl*, Tensor> leaf_sums_;
  std::vector<TensorImplPtr> leaf_order_;
  std::vector<std::pair<std::shared_ptr<TensorImplPtr>, Tensor>> retained_;
};

struct Start {
  std::vector<Edge> edges;
  std::vector<Tensor> grads;
};

Start check_outputs(const std::vector<Tensor>& outputs, std::vector<Tensor> grads) {
  FUSELET_CHECK(grads.empty() || grads.size() == outputs.size(), "backward: ", outputs.size(), " outputs but ",
                grads.size(), " gradients");
  grads.resize(outputs.size());
  Start start;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& out = outputs[i];
    start.edges.push_back(gradient_edge(out));
    FUSELET_CHECK(start.edges.back().exists(), "backward: the tensor of shape ", to_string(out.sizes()),
                  " does not require grad and has no history");
    if (!grads[i].defined()) {
      FUSELET_CHECK(out.impl()->numel() == 1, "backward: a gradient must be given for a tensor of shape ",
                    to_string(out.sizes()), "; only for a single element it is 1 by default");
      NoGradGuard no_grad;
      grads[i] = ones_like(out);
    }
    FUSELET_CHECK(same_sizes(grads[i].sizes(), out.sizes()), "backward: the gradient has shape ",
                  to_string(grads[i].sizes()), " but the tensor has shape ", to_string(out.sizes()));
    if (grads[i].dtype() != out.dtype()) grads[i] = grads[i].cast(out.dtype());
  }
  start.grads = std::move(grads);
  return start;
}

// Looking for a NaN reads values, which a compiled function does not have yet.
void check_mode(const BackwardOptions& options) {
  CompiledCall* call = dispatch_state().compiled_call;
  if (call && options.detect_anomaly) call->refuse("detect_anomaly()");
}

}  // namespace

void backward(const std::vector<Tensor>& outputs, std::vector<Tensor> grad_outputs, BackwardOptions options) {
  options.retain_graph = options.retain_graph || options.create_graph;
  check_mode(options);
  if (CompiledCall* call = dispatch_state().compiled_call)
    return call->backward(outputs, grad_outputs, options.retain_graph, options.create_graph);
  Start start = check_outputs(outputs, std::move(grad_outputs));
  BackwardRun run(options, {}, false);
  run.walk(start.edges, start.grads);
  start = {};
  run.accumulate();
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         std::vector<Tensor> grad_outputs, BackwardOptions options, bool allow_unused) {
  options.retain_graph = options.retain_graph || options.create_graph;
  check_mode(options);
  if (CompiledCall* call = dispatch_state().compiled_call)
    return call->grad(outputs, inputs, grad_outputs, options.retain_graph, options.create_graph, allow_unused);
  Start start = check_outputs(outputs, std::move(grad_outputs));
  std::vector<Capture> captures;
  for (const Tensor& t : inputs) {
    Edge e = gradient_edge(t);
    FUSELET_CHECK(e.exists(), "grad: an input of shape ", to_string(t.sizes()), " does not require grad");
    captures.push_back({e.node.get(), e.index, e.leaf.get()});
  }
  BackwardRun run(options, std::move(captures), true);
  run.walk(start.edges, start.grads);
  std::vector<Tensor> gradients = run.take_captured();
  for (size_t i = 0; i < inputs.size(); ++i) {
    FUSELET_CHECK(gradients[i].defined() || allow_unused, "grad: the outputs do not depend on input ", i, " of shape ",
                  to_string(inputs[i].sizes()), "; pass allow_unused=True to get nothing for it");
  }
  run.write_retained();
  return gradients;
}

}  // namespace fuselet
