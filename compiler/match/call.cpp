#include "compiler/match/call.h"

#include <algorithm>

#include "autograd/grad_node.h"
#include "compiler/match/later_backward.h"
#include "core/dispatch.h"
#include "core/ops/functions.h"

namespace fuselet::match {
namespace {

thread_local std::unique_ptr<FunctionCall> t_spare_call;

constexpr uint8_t kMatchBit = 1u << static_cast<int>(Layer::Match);

bool is_new(const ResultTensor& r) {
  return r.origin == ResultTensor::Origin::Fresh || r.origin == ResultTensor::Origin::View;
}

void set_history_inside(const Tensor& t, bool requires_grad, bool is_leaf) {
  if (!requires_grad && !t.impl()->autograd()) return;
  AutogradMeta& a = t.impl()->make_autograd();
  a.requires_grad = requires_grad && is_leaf;
  a.grad_fn = requires_grad && !is_leaf ? IntrusivePtr<GradNodeBase>(history_inside_call()) : nullptr;
}

void match_layer(Call& call) {
  if (CompiledCall* running = dispatch_state().compiled_call) return static_cast<FunctionCall*>(running)->operate(call);
  dispatch_below(Layer::Match, call);
}

}  // namespace

void register_match_layer() { register_layer(Layer::Match, match_layer); }

std::unique_ptr<FunctionCall> take_spare_call() {
  return t_spare_call ? std::move(t_spare_call) : std::make_unique<FunctionCall>();
}

void give_back_call(std::unique_ptr<FunctionCall> call) { t_spare_call = std::move(call); }

CallScope::CallScope(Function& function) {
  const DispatchState& s = dispatch_state();
  if (s.compiled_call || s.recording) return;
  call_ = take_spare_call();
  call_->begin(function);
}

CallScope::~CallScope() {
  if (!call_) return;
  call_->abandon();
  give_back_call(std::move(call_));
}

void CallScope::finish() {
  if (!call_) return;
  call_->finish();
  give_back_call(std::move(call_));
}

Shortcut CallScope::finish_with_shortcut(std::span<const Tensor> arguments, std::span<const Tensor> results) {
  Shortcut shortcut;
  if (!call_) return shortcut;
  bool noted = call_->note_shortcut(arguments, results, &shortcut);
  const Program& program = call_->finish();
  if (noted) {
    shortcut.program = &program;
    find_needed(shortcut);
  }
  give_back_call(std::move(call_));
  return shortcut;
}

void FunctionCall::begin(Function& function) {
  function_ = &function;
  at_ = &function.start();
  if (function.settings().pure) ambient_at_start_ = ambient_now();
  dispatch_state().layers |= kMatchBit;
  dispatch_state().compiled_call = this;
}

void FunctionCall::leave() {
  if (dispatch_state().compiled_call != this) return;
  dispatch_state().layers &= static_cast<uint8_t>(~kMatchBit);
  dispatch_state().compiled_call = nullptr;
}

void FunctionCall::clear() {
  function_ = nullptr;
  at_ = nullptr;
  handles_.clear();
  numbers_.clear();
  draws_ = 0;
  reads_cells_ = moves_tensors_ = false;
  needed_ = nullptr;
  written_.clear();
  reason_.clear();
  reason_line_.clear();
  grads_.clear();
  flags_.clear();
  cells_.clear();
  shadow_.reset();
  shadow_at_ = nullptr;
  survivors_.clear();
}

void FunctionCall::abandon() noexcept {
  if (!function_) return;
  leave();
  for (auto g = grads_.rbegin(); g != grads_.rend(); ++g) g->leaf->make_autograd().grad = g->before;
  for (auto f = flags_.rbegin(); f != flags_.rend(); ++f) f->tensor->make_autograd().requires_grad = f->requires_grad;
  for (auto c = cells_.rbegin(); c != cells_.rend(); ++c) c->first->set(c->second);
  clear();
}

const Program& FunctionCall::finish() {
  leave();
  note_survivors();
  const Program& chosen = program();
  shadow_.reset();
  chosen.run(handles_, numbers_);
  function_->count_call();
  clear();
  return chosen;
}

void FunctionCall::refuse(const char* what) {
  std::string line = current_line();
  if (!line.empty()) line = " at " + line;
  if (line.empty() && at_ && !at_->line.empty()) line = " after " + name_of(*at_) + " at " + at_->line;
  throw NotImplementedError(concat("compile: ", what, " inside the compiled function '", function_->settings().name,
                                   "'", line, " is not supported yet"));
}

void FunctionCall::before_read(const Tensor& t) {
  const Storage* storage = t.impl()->storage().get();
  if (storage->is_deferred() || std::find(written_.begin(), written_.end(), storage) != written_.end())
    refuse("asking for a value that the function computes itself (item(), bool(), numpy(), tolist())");
}

void FunctionCall::before_cell_change(HostCell& cell) { cells_.emplace_back(CellPtr(&cell), cell.peek()); }

// The offset of as_strided counts from the start of the memory, which is no part of what is compared.
void FunctionCall::check_as_strided(const Tensor& t) {
  if (t.impl()->is_deferred()) return;
  int32_t group = handles_.group_of(t);
  const Tensor& first = group == kUndefined ? t : handles_[handles_.first_of_group(group)];
  if (first.impl()->offset() != 0) refuse("as_strided() of a tensor that begins behind the start of its memory");
}

// A program runs on one device. A tensor from outside that the function does not write first is moved while the
// function runs, and its copy, new in every call, is one more tensor from outside.
void FunctionCall::move_at_once(Call& call) {
  const bool is_copy = call.op->id == OpId::copy;
  const Tensor& source = call.tensor(is_copy ? 1 : 0);
  const Storage* storage = source.impl()->storage().get();
  if (storage->is_deferred() || std::find(written_.begin(), written_.end(), storage) != written_.end())
    refuse("moving what the function computes itself to another device (return it, and move it after the call)");
  moves_tensors_ = true;
  const Tensor moved = [&] {
    PauseRecordingGuard at_once;
    return transfer(source, result_device_of(call), !is_copy && call.flag(2));
  }();
  if (!is_copy) {
    call.outs[0] = moved;
    return;
  }
  Arg args[] = {call.args[0], Arg(moved)};
  Call copy = call;
  copy.args = args;
  operate(copy);
  call.outs = copy.outs;
}

void FunctionCall::operate(Call& call) {
  if (call.op->id == OpId::as_strided) check_as_strided(call.tensor(0));
  if (crosses_devices(call)) return move_at_once(call);
  if (draw_is_given() && (call.op->kind == OpKind::Random || call.op->kind == OpKind::Composite))
    refuse("a random generator other than the default one");
  if (function_->settings().pure) {
    for (int i = 0; i < call.num_args; ++i)
      reads_cells_ = reads_cells_ || (call.args[i].tag == Arg::Tag::Scalar && call.args[i].scalar->cell());
  }
  Asked asked{
      StepKind::Operator, call.op, call.in_place, ambient_now(), {call.args, static_cast<size_t>(call.num_args)}};
  take(step_for(asked), call.outs);
}

void FunctionCall::backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& grads, bool retain_graph,
                            bool create_graph) {
  Arg args[] = {Arg(TensorList(outputs)), Arg(TensorList(grads)), Arg(retain_graph), Arg(create_graph)};
  take(step_for({StepKind::Backward, nullptr, false, ambient_now(), args}), nullptr);
}

std::vector<Tensor> FunctionCall::grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                       const std::vector<Tensor>& grads, bool retain_graph, bool create_graph,
                                       bool allow_unused) {
  Arg args[] = {Arg(TensorList(outputs)), Arg(TensorList(inputs)), Arg(TensorList(grads)),
                Arg(retain_graph),        Arg(create_graph),       Arg(allow_unused)};
  std::vector<Tensor> out(inputs.size());
  take(step_for({StepKind::Grad, nullptr, false, ambient_now(), args}), out.data());
  return out;
}

void FunctionCall::set_grad(const Tensor& t, const Tensor& grad) {
  Arg args[] = {Arg(t), Arg(grad)};
  take(step_for({StepKind::SetGrad, nullptr, false, ambient_now(), args}), nullptr);
  replace_grad(t, grad.ptr());
}

void FunctionCall::set_requires_grad(const Tensor& t, bool on) {
  Arg args[] = {Arg(t), Arg(on)};
  take(step_for({StepKind::SetRequiresGrad, nullptr, false, ambient_now(), args}), nullptr);
}

const Step& FunctionCall::step_for(const Asked& asked) {
  for (Step* s = at_->children.load(std::memory_order_acquire); s; s = s->sibling) {
    if (!matches(*s, asked, handles_, numbers_)) continue;
    at_ = s;
    return *s;
  }
  return record(asked);
}

Tensor FunctionCall::make(const ResultTensor& r) {
  Tensor t;
  Handle root = handles_.size();
  if (needed_ && !(*needed_)[static_cast<size_t>(root)]) {
    handles_.add_absent();
    return t;
  }
  if (r.origin == ResultTensor::Origin::Fresh) {
    t = Tensor(make_intrusive<TensorImpl>(make_intrusive<Storage>(Storage::Deferred{}, r.form.device), r.form.sizes,
                                          r.form.strides, r.form.offset, r.form.dtype));
  } else {
    const TensorImpl* parent = handles_[r.parent].impl();
    root = handles_.root_of(r.parent);
    t = Tensor(make_intrusive<TensorImpl>(parent->storage(), r.form.sizes, r.form.strides,
                                          parent->offset() + r.form.offset, r.form.dtype));
  }
  if (r.requires_grad) set_history_inside(t, true, r.is_leaf);
  handles_.add_made(t, root);
  return t;
}

void FunctionCall::take(const Step& step, Tensor* results) {
  draws_ += static_cast<uint64_t>(step.draws);
  for (size_t i = 0; i < step.results.size(); ++i) {
    const ResultTensor& r = step.results[i];
    if (is_new(r)) {
      Tensor made = make(r);
      if (results) results[i] = std::move(made);
    } else if (results) {
      results[i] = r.origin == ResultTensor::Origin::Known ? handles_[r.handle] : Tensor();
    }
  }
  for (Handle h : step.rewritten) handles_[h].impl()->storage()->bump_version();
  for (Handle h : step.written) written_.push_back(handles_[h].impl()->storage().get());
  for (const HistoryChange& h : step.history) change_history(h);
  if (!step.leaf_grads.empty()) take_leaf_grads(step);
}

void FunctionCall::take_leaf_grads(const Step& step) {
  for (size_t i = 0; i < step.leaf_grads.size(); ++i) {
    const LeafGrad& g = step.leaf_grads[i];
    const Tensor& leaf = handles_[g.leaf];
    const AutogradMeta* a = leaf.impl()->autograd();
    if (a && a->hooks && !a->hooks->hooks.empty()) refuse("a backward that runs hooks of tensors");
    const ResultTensor& now = step.results[i];
    if (now.origin == ResultTensor::Origin::Undefined || now.handle == g.before) continue;
    replace_grad(leaf, handles_[now.handle].ptr());
  }
}

// What a leaf from outside held before the call is kept to undo; what the call made itself is not, for keeping it would
// make it survive.
void FunctionCall::replace_grad(const Tensor& leaf, const TensorImplPtr& grad) {
  if (!grad && !leaf.impl()->autograd()) return;
  TensorImplPtr& held = leaf.impl()->make_autograd().grad;
  if (!leaf.impl()->is_deferred() && (!held || !held->is_deferred())) grads_.push_back({leaf.ptr(), held});
  held = grad;
}

void FunctionCall::change_history(const HistoryChange& change) {
  const Tensor& t = handles_[change.handle];
  const AutogradMeta* a = t.impl()->autograd();
  if (handles_.root_of(change.handle) == kUndefined && t.is_leaf()) flags_.push_back({t.ptr(), a && a->requires_grad});
  set_history_inside(t, change.requires_grad, change.is_leaf);
}

// Tensors and memory that somebody besides this call holds.
void FunctionCall::note_survivors() {
  holders_.assign(static_cast<size_t>(handles_.size()), 0);
  for (Handle h = 0; h < handles_.size(); ++h) {
    Handle root = handles_.root_of(h);
    bool held = handles_[h].impl()->use_count() > 1;
    if (root != kUndefined) holders_[static_cast<size_t>(root)] += held ? 0 : 1;
    const AutogradMeta* a = handles_[h].impl()->autograd();
    if (held && a && a->grad_fn.get() == history_inside_call().get()) survivors_.with_grad.push_back(h);
  }
  // A storage is held by one tensor each; whoever is not counted above holds it from outside.
  for (Handle h = 0; h < handles_.size(); ++h) {
    if (handles_.root_of(h) != h) continue;
    auto count = static_cast<uint32_t>(handles_[h].impl()->storage()->use_count());
    if (count > holders_[static_cast<size_t>(h)]) survivors_.roots.push_back(h);
  }
}

const Program& FunctionCall::program() {
  auto serves = [&](const Program& p) { return p.serves(survivors_, numbers_); };
  for (const Program* p = at_->programs.load(std::memory_order_acquire); p; p = p->next) {
    if (serves(*p)) return *p;
  }
  if (reason_.empty()) {
    bool ends_here = at_->programs.load(std::memory_order_acquire) != nullptr;
    const Step* next = at_->children.load(std::memory_order_acquire);
    if (ends_here) {
      reason_ = "a result that was dropped before is kept now, or a number that the code depends on changed";
    } else if (next) {
      reason_ = concat("the function ends after ", at_ == &function_->start() ? "no call" : name_of(*at_), ", ",
                       name_of(*next), " followed before");
    } else {
      reason_ = "first call";
    }
    reason_line_ = at_->line;
  }
  return function_->program_at(*at_, reason_, reason_line_, serves, [&] {
    catch_up(nullptr);
    return Program::build(*shadow_, path_to(at_), survivors_, numbers_, function_->settings(), at_->line);
  });
}

}  // namespace fuselet::match
