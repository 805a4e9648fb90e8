#include "compiler/passes/fold_constants.h"

#include "compiler/passes/inspect_nodes.h"
#include "compiler/trace/edited_call.h"
#include "compiler/trace/rerecord.h"

namespace fuselet {
namespace {

// The `full` of a number that argument i is; nullptr if it is none.
const ir::Node* constant_at(const ir::Graph& g, const ir::Node& node, size_t i) {
  const ir::Node* maker = maker_of(g, node, i);
  return maker && maker->op == OpId::full && std::holds_alternative<Scalar>(maker->args[1]) ? maker : nullptr;
}

bool all_constant(const ir::Graph& g, const ir::Node& node) {
  for (size_t i = 0; i < node.args.size(); ++i) {
    bool open = std::holds_alternative<ir::CellRef>(node.args[i]) || value_at(node, i) >= 0;
    if (open && !constant_at(g, node, i)) return false;
  }
  return true;
}

Scalar element_of(const Tensor& t) {
  double value = t.item();
  switch (category_of(t.dtype())) {
    case Category::Float:
      return value;
    case Category::Int:
      return *t.cast(DType::Int64).data<int64_t>();
    case Category::Bool:
      return value != 0;
  }
  return value;
}

// The operator on single elements, run now.
Scalar evaluate(const ir::Graph& g, const ir::Node& node, Call& call) {
  PauseRecordingGuard run_now;
  StateGuard<Device> on_host(&DispatchState::default_device, Device{});
  EditedCall edit(call);
  for (size_t i = 0; i < node.args.size(); ++i) {
    const ir::Node* constant = constant_at(g, node, i);
    if (constant)
      edit.set(static_cast<int>(i), full({}, std::get<Scalar>(constant->args[1]), g.meta(constant->outputs[0]).dtype));
  }
  return element_of(edit.run());
}

// Constant operands as numbers, where the call means the same then.
bool inline_numbers(const ir::Graph& g, const ir::Node& node, Call& call) {
  const TensorMeta& meta = g.meta(node.outputs[0]);
  for (int i = 0; i < call.num_args; ++i) {
    if (call.op->args[static_cast<size_t>(i)].type != ArgType::Operand || !call.is_tensor(i)) continue;
    std::optional<Scalar> number = number_at(g, node, static_cast<size_t>(i));
    if (!number) continue;
    EditedCall edit(call);
    edit.set(i, *number);
    TensorMeta without = edit.meta();
    if (!same_sizes(without.sizes, meta.sizes) || without.dtype != meta.dtype) continue;
    call.outs[0] = edit.run();
    return true;
  }
  return false;
}

}  // namespace

bool fold_constants(ir::Graph& graph) {
  bool changed = false;
  graph = trace::rerecord(
      graph,
      [](trace::Rerecording& recording, const ir::Node& node, Call& call) {
        const ir::Graph& g = recording.from();
        OpKind kind = call.op->kind;
        if (kind != OpKind::Pointwise && kind != OpKind::View) return false;
        const TensorMeta& meta = g.meta(node.outputs[0]);
        if (kind == OpKind::View) {
          const ir::Node* constant = constant_at(g, node, 0);
          if (!constant || recording.layout_matters(node.outputs[0])) return false;
          call.outs[0] = full(meta.sizes, std::get<Scalar>(constant->args[1]), meta.dtype, meta.device);
          return true;
        }
        if (!all_constant(g, node)) return inline_numbers(g, node, call);
        call.outs[0] = full(meta.sizes, evaluate(g, node, call), meta.dtype, meta.device);
        return true;
      },
      &changed);
  return changed;
}

}  // namespace fuselet
