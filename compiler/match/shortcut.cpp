// The part of a call that notes shortcuts and follows them.
#include <algorithm>

#include "compiler/match/call.h"

namespace fuselet::match {

bool FunctionCall::note_shortcut(std::span<const Tensor> arguments, std::span<const Tensor> results,
                                 Shortcut* out) const {
  // Cells are state besides the arguments, and what was moved holds the numbers of this call.
  if (reads_cells_ || !cells_.empty() || moves_tensors_) return false;
  auto source_of = [&](const Tensor& t) {
    TensorSource s;
    auto same = std::find_if(arguments.begin(), arguments.end(), [&](const Tensor& a) { return a.is_same(t); });
    if (same != arguments.end()) {
      s.argument = static_cast<int32_t>(same - arguments.begin());
    } else {
      s.kept = t;
    }
    return s;
  };
  out->ambient = ambient_at_start_;
  for (const Step* s = at_; s->parent; s = s->parent) out->path.push_back(s);
  std::reverse(out->path.begin(), out->path.end());
  // Whether its offset is right depends on the memory.
  for (const Step* s : out->path) {
    if (s->op && s->op->id == OpId::as_strided) return false;
  }
  for (const Step* step : out->path) {
    for (size_t i = 0; i < step->outside.size(); ++i)
      out->outside.push_back(source_of(handles_[step->first_handle + static_cast<Handle>(i)]));
  }
  for (const Tensor& t : results) {
    Handle h = handles_.find(t);
    out->results.push_back(h == kUndefined ? source_of(t) : TensorSource{-1, h, {}});
  }
  out->numbers = numbers_;
  return true;
}

void find_needed(Shortcut& shortcut) {
  size_t num_handles = 0;
  for (const Step* step : shortcut.path) {
    num_handles += step->outside.size();
    for (const ResultTensor& r : step->results)
      num_handles += r.origin == ResultTensor::Origin::Fresh || r.origin == ResultTensor::Origin::View ? 1 : 0;
  }
  shortcut.needed.assign(num_handles, 0);
  auto mark = [&](Handle h) {
    if (h != kUndefined) shortcut.needed[static_cast<size_t>(h)] = 1;
  };
  shortcut.program->for_each_given(mark);
  for (const TensorSource& s : shortcut.results) mark(s.handle);
  for (const Step* step : shortcut.path) {
    for (const ResultTensor& r : step->results) {
      bool is_view = r.origin == ResultTensor::Origin::View;
      if (is_view || !step->leaf_grads.empty()) mark(r.handle);
      if (is_view) mark(r.parent);
    }
    for (const HistoryChange& h : step->history) mark(h.handle);
    for (Handle h : step->written) mark(h);
    for (Handle h : step->rewritten) mark(h);
    if (step->kind != StepKind::SetGrad) continue;
    for (const ArgPattern& p : step->args) {
      if (p.tag == Arg::Tag::Tensor) mark(static_cast<Handle>(p.bits));
    }
  }
}

bool FunctionCall::leaf_grads_are(const Step& step) const {
  return std::all_of(step.leaf_grads.begin(), step.leaf_grads.end(), [&](const LeafGrad& g) {
    const AutogradMeta* a = handles_[g.leaf].impl()->autograd();
    const TensorImpl* now = a ? a->grad.get() : nullptr;
    return now == (g.before == kUndefined ? nullptr : handles_[g.before].impl());
  });
}

bool FunctionCall::retrace(const Shortcut& shortcut, std::span<const Tensor> arguments) {
  if (!(ambient_now() == shortcut.ambient)) return false;
  auto source = shortcut.outside.begin();
  for (const Step* step : shortcut.path) {
    for (const OutsideTensor& expected : step->outside) {
      const Tensor& t = source->argument >= 0 ? arguments[static_cast<size_t>(source->argument)] : source->kept;
      ++source;
      if (!handles_.bind(expected, t)) return false;
    }
    if (!leaf_grads_are(*step)) return false;
    take(*step, nullptr);
    if (step->kind == StepKind::SetGrad) {
      bool none = step->args[1].tag == Arg::Tag::None;
      replace_grad(handles_[static_cast<Handle>(step->args[0].bits)],
                   none ? TensorImplPtr() : handles_[static_cast<Handle>(step->args[1].bits)].ptr());
    }
  }
  return true;
}

bool FunctionCall::follow(Function& function, const Shortcut& shortcut, std::span<const Tensor> arguments,
                          std::vector<Tensor>* results) {
  function_ = &function;
  needed_ = &shortcut.needed;
  try {
    if (!retrace(shortcut, arguments)) {
      abandon();
      return false;
    }
    shortcut.program->run(handles_, shortcut.numbers);
  } catch (...) {
    abandon();
    throw;
  }
  for (const TensorSource& s : shortcut.results) {
    results->push_back(s.handle != kUndefined ? handles_[s.handle]
                       : s.argument >= 0      ? arguments[static_cast<size_t>(s.argument)]
                                              : s.kept);
  }
  function_->count_call();
  clear();
  return true;
}

bool follow_shortcut(Function& function, const Shortcut& shortcut, std::span<const Tensor> arguments,
                     std::vector<Tensor>* results) {
  const DispatchState& s = dispatch_state();
  if (s.compiled_call || s.recording) return false;
  std::unique_ptr<FunctionCall> call = take_spare_call();
  struct GiveBack {
    std::unique_ptr<FunctionCall>& call;
    ~GiveBack() { give_back_call(std::move(call)); }
  } give_back{call};
  return call->follow(function, shortcut, arguments, results);
}

}  // namespace fuselet::match
