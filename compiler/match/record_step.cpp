// The part of a call that records steps which no path has yet.
#include <algorithm>

#include "compiler/match/call.h"

namespace fuselet::match {
namespace {

bool has_hooks(const Tensor& leaf) {
  const AutogradMeta* a = leaf.impl()->autograd();
  return a && a->hooks && !a->hooks->hooks.empty();
}

}  // namespace

// Brings the shadow to `at_`, ready for `next` if there is one.
void FunctionCall::catch_up(const StepPattern* next) {
  std::vector<const Step*> missing;
  const Step* step = at_;
  while (step && step != shadow_at_) {
    if (step->parent) missing.push_back(step);
    step = step->parent;
  }
  bool usable = shadow_ && step == shadow_at_;
  for (auto s = missing.rbegin(); usable && s != missing.rend(); ++s) {
    if ((usable = shadow_->fits(**s))) shadow_->replay(**s, numbers_);
  }
  if (usable && (!next || shadow_->fits(*next))) {
    shadow_at_ = at_;
    return;
  }
  std::vector<const StepPattern*> path = path_to(at_);
  if (next) path.push_back(next);
  shadow_.emplace(function_->settings().name, plan_groups(path));
  std::vector<const Step*> steps;
  for (const Step* s = at_; s->parent; s = s->parent) steps.push_back(s);
  for (auto s = steps.rbegin(); s != steps.rend(); ++s) shadow_->replay(**s, numbers_);
  shadow_at_ = at_;
}

// What of a step depends on more than its arguments; refuses what cannot be recorded.
void FunctionCall::complete_pattern(StepPattern& step, const Asked& asked) {
  if (step.in_place) {
    for (size_t i = 0; i < asked.args.size(); ++i) {
      bool marked = asked.op->args[i].mutated;
      bool first = i == 0 && std::none_of(asked.op->args.begin(), asked.op->args.end(),
                                          [](const ArgSpec& a) { return a.mutated; });
      if (!marked && !first) continue;
      const Arg& arg = asked.args[i];
      std::span<const Tensor> targets(arg.tag == Arg::Tag::Tensors ? arg.tensors : arg.tensor,
                                      arg.tag == Arg::Tag::Tensors ? arg.count : 1);
      for (const Tensor& t : targets) {
        FUSELET_CHECK(!t.impl()->storage()->is_read_only(), asked.op->name,
                      "_: the tensor is read-only memory of another library");
        int32_t group = handles_.group_of(t);
        if (group == kUndefined) {
          step.rewritten.push_back(handles_.find(t));
          continue;
        }
        step.written.push_back(handles_.find(t));
        const Tensor& first_of_group = handles_[handles_.first_of_group(group)];
        if (!is_dense(first_of_group.sizes(), first_of_group.strides())) step.windows.push_back(group);
      }
    }
  }
  if (step.kind != StepKind::Backward) return;
  catch_up(&step);
  std::vector<Handle> outputs, leaves;
  for (uint32_t k = 0; k < step.args[0].count; ++k) {
    Handle h = step.handles[step.args[0].first + k];
    // A tensor from outside that this very step meets is no part of the shadow yet.
    (h < shadow_->size() ? outputs : leaves).push_back(h);
  }
  for (Handle h : shadow_->leaves_behind(outputs)) leaves.push_back(h);
  for (Handle h : leaves) {
    const Tensor& leaf = handles_[h];
    if (!leaf.is_leaf()) refuse("a backward through the history of a tensor from outside");
    if (has_hooks(leaf)) refuse("a backward that runs hooks of tensors");
    if (!leaf.requires_grad()) continue;
    Tensor before(leaf.impl()->autograd()->grad);
    step.leaf_grads.push_back({h, before.defined() ? handle_or_bind(step, before, handles_) : kUndefined});
    if (before.defined() && handles_.group_of(before) != kUndefined) step.written.push_back(handles_.find(before));
  }
}

const Step& FunctionCall::record(const Asked& asked) {
  const Step* siblings = at_->children.load(std::memory_order_acquire);
  std::string line = current_line();
  if (reason_.empty()) {
    if (siblings) {
      reason_ = concat("call ", at_->number + 1, ": ", difference(*siblings, asked, handles_));
    } else if (at_->programs.load(std::memory_order_acquire)) {
      reason_ = concat("call ", at_->number + 1, ": ", name_of(asked.kind, asked.op),
                       " follows, the function ended here before");
    } else {
      reason_ = "first call";
    }
    reason_line_ = line;
  }
  function_->check_limit(reason_);
  Handle first_handle = handles_.size();
  size_t first_number = numbers_.size();
  StepPattern step;
  try {
    step = pattern_of(asked, *at_, siblings, handles_, numbers_);
    complete_pattern(step, asked);
    catch_up(&step);
    shadow_->record(step, line, numbers_);
    for (const HistoryChange& h : step.history) {
      bool is_outside = handles_.root_of(h.handle) == kUndefined;
      if (step.kind == StepKind::Operator && is_outside && !handles_[h.handle].requires_grad())
        refuse("an in-place write that gives a tensor from outside a history");
    }
  } catch (...) {
    // The shadow may have carried out half of it.
    handles_.truncate(first_handle);
    numbers_.resize(first_number);
    shadow_.reset();
    shadow_at_ = nullptr;
    throw;
  }
  at_ = function_->add(*at_, std::move(step), line);
  shadow_at_ = at_;
  return *at_;
}

}  // namespace fuselet::match
