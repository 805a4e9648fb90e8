#include "autograd/op_node.h"

#include "core/dispatch_state.h"
#include "core/ops/functions.h"

namespace fuselet {
namespace {

SavedTensor save(const Tensor& t) { return {t, t.version(), true}; }

TensorMeta meta_of(const Tensor& t) {
  TensorMeta m;
  m.sizes = Dims(t.sizes());
  m.strides = Dims(t.strides());
  m.offset = t.impl()->offset();
  m.dtype = t.dtype();
  m.device = t.device();
  return m;
}

// The same memory without history.
Tensor without_history(const Tensor& t) {
  TensorImpl* impl = t.impl();
  auto copy = make_intrusive<TensorImpl>(impl->storage(), Dims(impl->sizes()), Dims(impl->strides()), impl->offset(),
                                         impl->dtype());
  copy->deferred() = impl->deferred();
  return Tensor(std::move(copy));
}

// An in-place call is about to write into the memory of `t`.
bool overwritten(const Call& call, const Tensor& t) {
  return call.in_place && t.impl()->storage() == call.tensor(0).impl()->storage();
}

}  // namespace

OpNode::OpNode(const Call& call) : op_(*call.op) {
  const VjpRule& rule = vjp_of(op_);
  size_t n = static_cast<size_t>(call.num_args);
  args_.resize(n);
  saved_args_.resize(n);
  first_edge_.resize(n);
  unsigned wanted = 0;
  for (size_t i = 0; i < n; ++i) {
    first_edge_[i] = static_cast<int>(edges.size());
    const Arg& arg = call.args[i];
    bool is_list = arg.tag == Arg::Tag::Tensors;
    if (!is_list && arg.tag != Arg::Tag::Tensor) {
      args_[i] = own(arg);
      continue;
    }
    std::span<const Tensor> tensors(is_list ? arg.tensors : arg.tensor, is_list ? arg.count : 1);
    for (const Tensor& t : tensors) {
      edges.push_back(gradient_edge(t));
      input_metas_.push_back(meta_of(t));
      if (edges.back().exists()) wanted |= rule.save_args[i];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    if ((wanted >> i & 1) == 0) continue;
    if (call.args[i].tag == Arg::Tag::Tensor) {
      const Tensor& t = call.tensor(static_cast<int>(i));
      if (overwritten(call, t)) {
        saved_args_[i] = save(without_history(t.clone()));
      } else {
        saved_args_[i] = save(edges[static_cast<size_t>(first_edge_[i])].leaf ? t : without_history(t));
      }
      saves_anything_ = true;
    }
  }
  num_outputs = static_cast<uint32_t>(call.num_outs);
}

void OpNode::save_results(const Call& call) {
  const VjpRule& rule = vjp_of(op_);
  unsigned wanted = 0;
  for (int i = 0; i < call.num_args; ++i) {
    size_t first = static_cast<size_t>(first_edge_[static_cast<size_t>(i)]);
    size_t last = i + 1 < call.num_args ? static_cast<size_t>(first_edge_[static_cast<size_t>(i) + 1]) : edges.size();
    for (size_t e = first; e < last; ++e) {
      if (edges[e].exists()) wanted |= rule.save_results[i];
    }
  }
  if (!wanted) return;
  saved_results_.resize(static_cast<size_t>(call.num_outs));
  for (int i = 0; i < call.num_outs; ++i) {
    if (wanted >> i & 1) saved_results_[static_cast<size_t>(i)] = save(without_history(call.outs[i]));
  }
  saves_anything_ = true;
}

const Tensor& OpNode::unpack(const SavedTensor& saved, const char* what, int index) const {
  FUSELET_INTERNAL_CHECK(saved.present,
                         concat("the VJP of ", op_.name, " reads ", what, " ", index, ", which its row does not save"));
  FUSELET_CHECK(saved.tensor.version() == saved.version, op_.name, ": ", what, " '",
                what[0] == 'r' ? "result" : op_.args[static_cast<size_t>(index)].name, "' of shape ",
                to_string(saved.tensor.sizes()), " was saved for backward at version ", saved.version,
                " and has been written in place since: it is now at version ", saved.tensor.version(),
                line.empty() ? "" : "; the forward call stands at ", line);
  return saved.tensor;
}

std::vector<Tensor> OpNode::apply(std::vector<Tensor> grads) {
  FUSELET_CHECK(!released_, op_.name,
                ": backward through this part of the graph a second time: what it had saved was freed by the first; ",
                "pass retain_graph=True to the first one");
  VjpContext context(*this, std::move(grads));
  vjp_of(op_).run(context);
  return context.take_gradients();
}

void OpNode::release_saved() {
  for (SavedTensor& s : saved_args_) s.tensor = Tensor();
  for (SavedTensor& s : saved_results_) s.tensor = Tensor();
  released_ = saves_anything_;
}

bool VjpContext::needs(int i, int k) const {
  size_t e = static_cast<size_t>(node_.edge_of(i, k));
  bool is_tensor = std::holds_alternative<std::monostate>(node_.args_[static_cast<size_t>(i)]);
  size_t last = static_cast<size_t>(i) + 1 < node_.first_edge_.size()
                    ? static_cast<size_t>(node_.first_edge_[static_cast<size_t>(i) + 1])
                    : node_.edges.size();
  return is_tensor && e < last && node_.edges[e].exists();
}

bool VjpContext::has(int i) const { return list_size(i) > 0 || node_.args_[static_cast<size_t>(i)].index() != 0; }

Tensor zeros_of(const TensorMeta& meta) { return zeros(meta.sizes, meta.dtype, meta.device); }

VjpContext::VjpContext(OpNode& node, std::vector<Tensor> grads)
    : node_(node), grads_(std::move(grads)), input_grads_(node.edges.size()) {}

// With a graph of the backward wanted, what was saved takes its place in the graph again.
Tensor VjpContext::tensor(int i) const {
  if (list_size(i) == 0) return Tensor();
  const Tensor& saved = node_.unpack(node_.saved_args_[static_cast<size_t>(i)], "argument", i);
  const Edge& edge = node_.edges[static_cast<size_t>(node_.edge_of(i, 0))];
  if (!edge.node || !dispatch_state().grad_enabled) return saved;
  Tensor t = without_history(saved);
  set_history(t, edge.node, edge.index);
  return t;
}

SavedOperand VjpContext::operand(int i) const {
  if (auto* s = std::get_if<Scalar>(&node_.args_[static_cast<size_t>(i)])) return *s;
  return tensor(i);
}

Tensor VjpContext::result(int i) const {
  const Tensor& saved = node_.unpack(node_.saved_results_[static_cast<size_t>(i)], "result", i);
  if (!dispatch_state().grad_enabled) return saved;
  Tensor t = without_history(saved);
  set_history(t, GradNodePtr(&node_), static_cast<uint32_t>(i));
  return t;
}

const TensorMeta& VjpContext::meta(int i, int k) const {
  return node_.input_metas_[static_cast<size_t>(node_.edge_of(i, k))];
}

int VjpContext::list_size(int i) const {
  size_t next = static_cast<size_t>(i) + 1;
  int last = next < node_.first_edge_.size() ? node_.first_edge_[next] : static_cast<int>(node_.edges.size());
  return last - node_.first_edge_[static_cast<size_t>(i)];
}

SymInt VjpContext::sym(int i) const { return std::get<SymInt>(node_.args_[static_cast<size_t>(i)]); }
Dims VjpContext::ints(int i) const { return std::get<Dims>(node_.args_[static_cast<size_t>(i)]); }
double VjpContext::number(int i) const { return std::get<double>(node_.args_[static_cast<size_t>(i)]); }
bool VjpContext::flag(int i) const { return std::get<bool>(node_.args_[static_cast<size_t>(i)]); }
std::string VjpContext::text(int i) const { return std::get<std::string>(node_.args_[static_cast<size_t>(i)]); }
Arg VjpContext::raw(int i) const { return view_of(node_.args_[static_cast<size_t>(i)]); }
const Op& VjpContext::op() const { return node_.op_; }

void VjpContext::set(int i, int k, const Tensor& gradient) {
  if (!gradient.defined()) return;
  const TensorMeta& m = meta(i, k);
  Tensor g = same_sizes(gradient.sizes(), m.sizes) ? gradient : gradient.sum_to_size(m.sizes);
  if (g.dtype() != m.dtype) g = g.cast(m.dtype);
  if (g.device() != m.device) g = g.to(m.device);
  input_grads_[static_cast<size_t>(node_.edge_of(i, k))] = g;
}

std::vector<Tensor> VjpContext::take_gradients() { return std::move(input_grads_); }

}  // namespace fuselet
