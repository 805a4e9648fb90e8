#include "compiler/match/step.h"

#include "core/dispatch_state.h"

namespace fuselet::match {

Ambient ambient_now() {
  const DispatchState& s = dispatch_state();
  return {s.grad_enabled, s.default_dtype, s.default_device, s.float32_matmul};
}

TensorForm form_of(const Tensor& t) {
  const TensorImpl* i = t.impl();
  return {Dims(i->sizes()), Dims(i->strides()), i->offset(), i->dtype(), i->device()};
}

std::string text_of(const TensorForm& form) { return std::string(name_of(form.dtype)) + to_string(form.sizes); }

std::string name_of(StepKind kind, const Op* op) {
  switch (kind) {
    case StepKind::Operator:
      return op->name;
    case StepKind::Backward:
      return "backward";
    case StepKind::Grad:
      return "grad";
    case StepKind::SetGrad:
      return "setting .grad";
    case StepKind::SetRequiresGrad:
      return "setting requires_grad";
  }
  return "";
}

std::string name_of(const Step& step) { return concat("call ", step.number, " (", name_of(step.kind, step.op), ")"); }

}  // namespace fuselet::match
