#include "compiler/trace/recorder.h"

#include <atomic>

#include "autograd/grad_node.h"
#include "compiler/ir/node_call.h"
#include "core/dispatch_state.h"

namespace fuselet::trace {
namespace {

std::atomic<uint64_t> g_next_recording{1};

TensorMeta meta_of(const Tensor& t) {
  TensorMeta m;
  m.sizes = Dims(t.sizes());
  m.strides = Dims(t.strides());
  m.dtype = t.dtype();
  m.device = t.device();
  return m;
}

// Marks a moment on the tape.
class MarkNode final : public GradNode {
 public:
  std::string name() const override { return "mark"; }
  std::vector<Tensor> apply(std::vector<Tensor>) override { return {}; }
};

bool is_base(const TensorImpl& t, const AliasGroup& group) {
  return t.offset() == group.offset && same_sizes(t.sizes(), group.base.sizes) &&
         same_sizes(t.strides(), group.base.strides);
}

}  // namespace

Recorder::Recorder(std::string name)
    : id_(g_next_recording.fetch_add(1)), tape_start_(make_intrusive<MarkNode>()->sequence) {
  graph_.name = std::move(name);
}

Recorder& current_recorder() {
  Recording* r = dispatch_state().recording;
  FUSELET_INTERNAL_CHECK(r, "the trace layer runs without a recording");
  return static_cast<Recorder&>(*r);
}

void Recorder::add_argument(const Tensor& t) {
  FUSELET_CHECK(t.defined(), "record: argument ", num_arguments_, " is undefined");
  FUSELET_CHECK(!groups_.contains(t.impl()->storage().get()),
                "record: two arguments share memory; pass one of them, or a clone()");
  lift(t, ir::InputKind::Argument, std::to_string(num_arguments_++));
}

// An argument is an input as it is, since a replay brings another one. Of the other tensors, one that fills its storage
// is too; any other is a strided view of the whole storage, so that several over one storage see each other's writes.
AliasGroup& Recorder::lift(const Tensor& t, ir::InputKind kind, std::string name) {
  const StoragePtr& storage = t.impl()->storage();
  FUSELET_CHECK(!storage->is_deferred(), "record: a value of another recording is used in this one");
  int64_t held = static_cast<int64_t>(storage->bytes() / size_of(t.dtype()));
  bool whole = kind == ir::InputKind::Argument || (t.impl()->offset() == 0 && t.is_contiguous() && t.numel() == held);
  Tensor base = t;
  if (!whole) base = Tensor(make_intrusive<TensorImpl>(storage, Dims{held}, Dims{1}, 0, t.dtype()));
  AliasGroup group;
  group.storage = storage;
  group.base = meta_of(base);
  group.offset = base.impl()->offset();
  group.input = static_cast<int32_t>(graph_.inputs.size());
  group.value = graph_.add_input(kind, std::move(name), group.base);
  lifted_.push_back(base);
  group_order_.push_back(storage.get());
  return groups_[storage.get()] = std::move(group);
}

AliasGroup& Recorder::group_of(const Tensor& t) {
  auto found = groups_.find(t.impl()->storage().get());
  if (found != groups_.end()) return found->second;
  auto name = names_.find(t.impl()->storage().get());
  return lift(t, ir::InputKind::Lifted,
              name != names_.end() ? name->second : "t" + std::to_string(graph_.inputs.size()));
}

void Recorder::before_grad_change(TensorImpl& leaf) {
  for (const ChangedGrad& seen : changed_grads_) {
    if (seen.leaf.impl() == &leaf) return;
  }
  changed_grads_.push_back({Tensor(TensorImplPtr(&leaf)), leaf.autograd() ? leaf.autograd()->grad : TensorImplPtr()});
}

Tensor Recorder::add_input(ir::InputKind kind, const std::string& name, const TensorMeta& meta) {
  Tensor t = ir::stand_in(meta);
  define(t, graph_.add_input(kind, name, meta), false);
  return t;
}

Tensor Recorder::add_stand_in(const std::string& name, const TensorMeta& meta) {
  auto input = static_cast<int32_t>(graph_.inputs.size());
  Tensor t = add_input(ir::InputKind::Lifted, name, meta);
  group_of(t).input = input;
  lifted_.push_back(t);
  return t;
}

// Only an argument may be a part of its storage.
SymInt Recorder::offset_in(const AliasGroup& group, const Tensor& t) const {
  SymInt offset = t.impl()->offset() - group.offset;
  if (group.input >= 0 && graph_.inputs[static_cast<size_t>(group.input)].kind == ir::InputKind::Argument) {
    FUSELET_CHECK(
        offset >= 0 && offset + span_of(t.sizes(), t.strides()) <= span_of(group.base.sizes, group.base.strides),
        "record: a tensor of shape ", to_string(t.sizes()),
        " shares memory with an argument but is no part of it; pass a clone()");
  }
  return offset;
}

ir::ValueId Recorder::value_of(const Tensor& t) {
  AliasGroup& group = group_of(t);
  DeferredSlot& slot = t.impl()->deferred();
  if (slot.recording == id_ && slot.value >= 0 && slot.generation == group.generation) return slot.value;
  slot.recording = id_;
  slot.generation = group.generation;
  slot.value = group.value;
  if (!is_base(*t.impl(), group)) {
    slot.value = graph_
                     .add_node(OpId::as_strided,
                               {ir::ValueRef{group.value}, Dims(t.sizes()), Dims(t.strides()), offset_in(group, t)},
                               {meta_of(t)}, origin_here())
                     .outputs[0];
  }
  return slot.value;
}

void Recorder::define(const Tensor& t, ir::ValueId value, bool shares_storage) {
  if (!shares_storage) {
    AliasGroup group;
    group.storage = t.impl()->storage();
    group.value = value;
    group.base = meta_of(t);
    group_order_.push_back(group.storage.get());
    groups_[group.storage.get()] = std::move(group);
  }
  t.impl()->deferred() = {id_, value, group_of(t).generation};
}

void Recorder::write(const Tensor& t, ir::ValueId value) {
  value_of(t);  // lifts it if it is new
  AliasGroup& group = group_of(t);
  FUSELET_CHECK(is_dense(group.base.sizes, group.base.strides),
                "record: an argument with gaps in memory is written in place; pass a contiguous() one");
  if (is_base(*t.impl(), group)) {
    group.value = value;
  } else {
    TensorMeta meta = group.base;
    group.value = graph_
                      .add_node(OpId::as_strided_scatter,
                                {ir::ValueRef{group.value}, ir::ValueRef{value}, Dims(t.sizes()), Dims(t.strides()),
                                 offset_in(group, t)},
                                {std::move(meta)}, origin_here())
                      .outputs[0];
  }
  group.written = true;
  ++group.generation;
  t.impl()->storage()->bump_version();
  t.impl()->deferred() = {id_, value, group.generation};
}

ir::CellRef Recorder::cell_ref(const CellPtr& cell) {
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i] == cell) return {static_cast<int32_t>(i)};
  }
  cells_.push_back(cell);
  first_read_.push_back(cell->peek());
  graph_.cells.push_back(cell->name());
  return {static_cast<int32_t>(cells_.size() - 1)};
}

void Recorder::check_cells() const {
  for (size_t i = 0; i < cells_.size(); ++i) {
    double before = first_read_[i], now = cells_[i]->peek();
    FUSELET_CHECK(before == now || (before != before && now != now), graph_.name, ": the cell '", cells_[i]->name(),
                  "' has been set from ", before, " to ", now,
                  " after the recording had read it; change it between runs (step a learning rate's schedule outside)");
  }
}

void Recorder::record_advance(HostCell& cell, double by) {
  graph_.advances.push_back({static_cast<int32_t>(graph_.nodes.size()), cell_ref(CellPtr(&cell)), by});
}

ir::GraphArg Recorder::graph_arg(const Arg& arg) {
  switch (arg.tag) {
    case Arg::Tag::None:
      return std::monostate{};
    case Arg::Tag::Tensor:
      return ir::ValueRef{value_of(*arg.tensor)};
    case Arg::Tag::Scalar:
      return arg.scalar->cell() ? ir::GraphArg(cell_ref(arg.scalar->cell())) : ir::GraphArg(*arg.scalar);
    case Arg::Tag::Tensors: {
      std::vector<ir::ValueRef> list;
      for (uint32_t i = 0; i < arg.count; ++i) list.push_back({value_of(arg.tensors[i])});
      return list;
    }
    default:
      break;
  }
  return ir::plain_argument(arg);
}

// A backward node points at the forward operator that it belongs to, and at its line.
ir::Origin Recorder::origin_here() const {
  if (forced_origin_) return *forced_origin_;
  const DispatchState& s = dispatch_state();
  if (s.backward_running && s.forward_origin >= 0) {
    ir::Origin o = graph_.nodes[static_cast<size_t>(s.forward_origin)].origin;
    o.backward = true;
    return o;
  }
  return {
      {static_cast<int32_t>(graph_.nodes.size())}, forced_line_ ? *forced_line_ : current_line(), s.backward_running};
}

namespace {

bool is_between_float32_and_16_bits(const Call& call, DType to) {
  if (call.op->id != OpId::cast) return false;
  DType from = call.tensor(0).dtype();
  if (from != DType::Float32) std::swap(from, to);
  return from == DType::Float32 && is_float(to) && size_of(to) == 2;
}

}  // namespace

const ir::Node& Recorder::add_node(const Call& call, std::vector<TensorMeta> metas) {
  bool boundary = marks_boundaries_ && is_between_float32_and_16_bits(call, metas[0].dtype);
  std::vector<ir::GraphArg> args;
  for (int i = 0; i < call.num_args; ++i) args.push_back(graph_arg(call.args[i]));
  int32_t draw = call.op->kind == OpKind::Random ? graph_.draws++ : -1;
  graph_.add_node(call.op->id, std::move(args), std::move(metas), origin_here(), draw);
  ir::Node& node = graph_.nodes.back();
  node.boundary = boundary;
  dispatch_state().last_recorded = static_cast<int32_t>(graph_.nodes.size() - 1);
  return node;
}

std::vector<AliasGroup*> Recorder::groups() {
  std::vector<AliasGroup*> out;
  for (const Storage* s : group_order_) out.push_back(&groups_.at(s));
  return out;
}

}  // namespace fuselet::trace
