#include "compiler/match/shadow.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <unordered_set>

#include "autograd/engine.h"
#include "autograd/grad_node.h"
#include "core/ops/functions.h"

namespace fuselet::match {
namespace {

TensorMeta meta_of(const TensorForm& form) {
  TensorMeta m;
  m.sizes = form.sizes;
  m.strides = form.strides;
  m.dtype = form.dtype;
  m.device = form.device;
  return m;
}

// A tensor without elements lies nowhere.
bool is_empty(const OutsideTensor& t) { return span_of(t.form.sizes, t.form.strides) == 0; }

void extend(GroupPlan& group, const OutsideTensor& t) {
  if (is_empty(t)) return;
  int64_t low = t.form.offset.word(), high = low + span_of(t.form.sizes, t.form.strides);
  group.low = std::min(group.low, low);
  group.high = std::max(group.high, high);
}

bool covers(const GroupPlan& group, const OutsideTensor& t) {
  if (!group.is_window) return t.form == group.form;
  if (is_empty(t)) return t.form.dtype == group.form.dtype;
  int64_t low = t.form.offset.word(), high = low + span_of(t.form.sizes, t.form.strides);
  return group.low <= low && high <= group.high && t.form.dtype == group.form.dtype;
}

void add_to_plan(std::vector<GroupPlan>& plan, Handle handle, const OutsideTensor& t) {
  if (t.group == static_cast<int32_t>(plan.size())) {
    plan.push_back({handle, false, 0, span_of(t.form.sizes, t.form.strides), t.form});
    return;
  }
  GroupPlan& group = plan[static_cast<size_t>(t.group)];
  if (t.form.dtype != group.form.dtype) {
    throw NotImplementedError(concat("compile: tensors of dtype ", name_of(group.form.dtype), " and ",
                                     name_of(t.form.dtype), " over one memory; clone() one of them"));
  }
  if (!(t.form == group.form)) group.is_window = true;
  extend(group, t);
}

void extend_plan(std::vector<GroupPlan>& plan, const StepPattern& step) {
  for (size_t i = 0; i < step.outside.size(); ++i)
    add_to_plan(plan, step.first_handle + static_cast<Handle>(i), step.outside[i]);
  for (int32_t group : step.windows) plan[static_cast<size_t>(group)].is_window = true;
}

}  // namespace

std::vector<GroupPlan> plan_groups(const std::vector<const StepPattern*>& steps) {
  std::vector<GroupPlan> plan;
  for (const StepPattern* step : steps) extend_plan(plan, *step);
  return plan;
}

std::vector<const StepPattern*> path_to(const Step* last) {
  std::vector<const StepPattern*> path;
  for (; last && last->parent; last = last->parent) path.push_back(last);
  std::reverse(path.begin(), path.end());
  return path;
}

// The inputs of the graph are the groups, in their order.
Shadow::Shadow(const std::string& name, std::vector<GroupPlan> plan) : recorder_(name), plan_(std::move(plan)) {
  windows_.resize(plan_.size());
}

// A gradient with a graph of its own and its leaf hold each other.
Shadow::~Shadow() {
  for (const Tensor& t : tensors_) {
    if (AutogradMeta* a = t.impl()->autograd()) a->grad = {};
  }
}

bool Shadow::fits(const StepPattern& step) const {
  std::vector<GroupPlan> plan = plan_;
  for (size_t i = 0; i < step.outside.size(); ++i) {
    const OutsideTensor& t = step.outside[i];
    if (static_cast<size_t>(t.group) == plan.size()) {
      add_to_plan(plan, step.first_handle + static_cast<Handle>(i), t);
    } else if (!covers(plan[static_cast<size_t>(t.group)], t)) {
      return false;
    }
  }
  return std::all_of(step.windows.begin(), step.windows.end(),
                     [&](int32_t group) { return plan[static_cast<size_t>(group)].is_window; });
}

void Shadow::add(const Tensor& t) {
  handles_.emplace(t.impl(), size());
  roots_.emplace(t.impl()->storage().get(), size());
  history_.emplace_back(t.requires_grad(), t.is_leaf());
  tensors_.push_back(t);
}

void Shadow::meet(const OutsideTensor& outside) {
  auto group = static_cast<size_t>(outside.group);
  if (group == plan_.size()) add_to_plan(plan_, size(), outside);
  windows_.resize(plan_.size());
  const GroupPlan& plan = plan_[group];
  NoGradGuard no_grad;
  std::string name = "t" + std::to_string(group);
  Tensor t;
  if (!plan.is_window) {
    // Another tensor of the same form over the memory is an alias of the first.
    t = plan.first == size() ? recorder_.add_stand_in(name, meta_of(outside.form)) : alias((*this)[plan.first]);
  } else {
    Tensor& window = windows_[group];
    if (!window.defined()) {
      TensorForm flat = {{plan.high - plan.low}, {1}, 0, plan.form.dtype, plan.form.device};
      window = recorder_.add_stand_in(name, meta_of(flat));
    }
    t = window.as_strided(outside.form.sizes, outside.form.strides,
                          is_empty(outside) ? SymInt(0) : outside.form.offset - plan.low);
  }
  if (outside.requires_grad) t.impl()->make_autograd().requires_grad = true;
  add(t);
}

std::vector<Tensor> Shadow::run_backward(const StepPattern& step, const std::vector<std::vector<Tensor>>& lists) {
  for (const LeafGrad& g : step.leaf_grads)
    (*this)[g.leaf].impl()->make_autograd().grad = g.before == kUndefined ? TensorImplPtr() : (*this)[g.before].ptr();
  backward(lists[0], lists[1], {step.args[2].bits != 0, step.args[3].bits != 0});
  std::vector<Tensor> grads;
  for (const LeafGrad& g : step.leaf_grads) grads.emplace_back((*this)[g.leaf].impl()->autograd()->grad);
  return grads;
}

std::vector<Tensor> Shadow::carry_out(const StepPattern& step, const std::string& line,
                                      const std::vector<double>& numbers) {
  ShadowScope scope(recorder_, step.ambient);
  LineOfRecording of_step(recorder_, line);
  for (const OutsideTensor& t : step.outside) meet(t);
  std::vector<Arg> args(step.args.size());
  std::vector<std::vector<Tensor>> lists(step.args.size());
  std::deque<Scalar> scalars;
  auto tensor = [&](Handle h) { return h == kUndefined ? Tensor() : (*this)[h]; };
  for (size_t i = 0; i < args.size(); ++i) {
    const ArgPattern& p = step.args[i];
    switch (p.tag) {
      case Arg::Tag::None:
        break;
      case Arg::Tag::Tensor:
        args[i] = Arg((*this)[static_cast<Handle>(p.bits)]);
        break;
      case Arg::Tag::Tensors:
        for (uint32_t k = 0; k < p.count; ++k) lists[i].push_back(tensor(step.handles[p.first + k]));
        args[i] = Arg(TensorList(lists[i]));
        break;
      case Arg::Tag::Scalar:
        if (p.role != NumberRole::Compared) {
          size_t k = cells_.size();
          cells_.push_back(
              make_intrusive<HostCell>(numbers[k], step.scalar_names[k - static_cast<size_t>(step.first_scalar)]));
          scalars.emplace_back(cells_.back());
        } else if (p.category == Category::Bool) {
          scalars.emplace_back(p.bits != 0);
        } else if (p.category == Category::Int) {
          scalars.emplace_back(p.bits);
        } else {
          scalars.emplace_back(std::bit_cast<double>(p.bits));
        }
        args[i] = Arg(scalars.back());
        break;
      case Arg::Tag::Int:
        args[i] = Arg(SymInt(p.bits));
        break;
      case Arg::Tag::Ints:
        args[i] = Arg(DimsView(step.ints.data() + p.first, p.count));
        break;
      case Arg::Tag::Float:
        args[i] = Arg(std::bit_cast<double>(p.bits));
        break;
      case Arg::Tag::Bool:
        args[i] = Arg(p.bits != 0);
        break;
      case Arg::Tag::Text:
        args[i] = Arg(step.texts[p.first].c_str());
        break;
      case Arg::Tag::DType:
        args[i] = Arg(static_cast<DType>(p.bits));
        break;
      case Arg::Tag::Device:
        args[i] = Arg(std::bit_cast<Device>(static_cast<uint16_t>(p.bits)));
        break;
    }
  }
  switch (step.kind) {
    case StepKind::Operator:
      return call_operator(*step.op, args, step.in_place, Location::current());
    case StepKind::Backward:
      return run_backward(step, lists);
    case StepKind::Grad:
      return grad(lists[0], lists[1], lists[2], {step.args[3].bits != 0, step.args[4].bits != 0},
                  step.args[5].bits != 0);
    case StepKind::SetGrad:
      Tensor(*args[0].tensor).set_grad(args[1].tag == Arg::Tag::None ? Tensor() : *args[1].tensor);
      return {};
    case StepKind::SetRequiresGrad:
      Tensor(*args[0].tensor).requires_grad_(step.args[1].bits != 0);
      return {};
  }
  return {};
}

// `next`: the handle that the result takes if it is new.
ResultTensor Shadow::describe(const Tensor& t, Handle next) {
  ResultTensor r;
  if (!t.defined()) return r;
  if (auto known = handles_.find(t.impl()); known != handles_.end()) {
    r.origin = ResultTensor::Origin::Known;
    r.handle = known->second;
    return r;
  }
  r.handle = next;
  r.form = form_of(t);
  r.requires_grad = t.requires_grad();
  r.is_leaf = t.is_leaf();
  const AutogradMeta* a = t.impl()->autograd();
  if (a && a->view_base) {
    auto base = handles_.find(a->view_base.get());
    if (base != handles_.end()) r.view_base = base->second;
  }
  auto root = roots_.find(t.impl()->storage().get());
  r.origin = root == roots_.end() ? ResultTensor::Origin::Fresh : ResultTensor::Origin::View;
  if (root != roots_.end()) {
    r.parent = root->second;
    r.form.offset = r.form.offset - (*this)[r.parent].impl()->offset();
  }
  return r;
}

void Shadow::note_history(StepPattern& step) {
  for (Handle h = 0; h < size(); ++h) {
    std::pair<bool, bool> now((*this)[h].requires_grad(), (*this)[h].is_leaf());
    if (now == history_[static_cast<size_t>(h)]) continue;
    history_[static_cast<size_t>(h)] = now;
    step.history.push_back({h, now.first, now.second});
  }
}

void Shadow::record(StepPattern& step, const std::string& line, const std::vector<double>& numbers) {
  int32_t draws = recorder_.graph().draws;
  std::vector<Tensor> results = carry_out(step, line, numbers);
  step.draws = recorder_.graph().draws - draws;
  for (const Tensor& t : results) {
    step.results.push_back(describe(t, size()));
    auto origin = step.results.back().origin;
    if (origin == ResultTensor::Origin::Fresh || origin == ResultTensor::Origin::View) add(t);
  }
  note_history(step);
  for (ArgPattern& p : step.args) {
    if (p.tag != Arg::Tag::Scalar || p.role != NumberRole::Input) continue;
    if (number_was_read(static_cast<int32_t>(p.first))) {
      p.role = NumberRole::ComparedInput;
    } else {
      p.bits = 0;
    }
  }
}

void Shadow::replay(const Step& step, const std::vector<double>& numbers) {
  std::vector<Tensor> results = carry_out(step, step.line, numbers);
  FUSELET_INTERNAL_CHECK(results.size() == step.results.size(), concat(name_of(step), " gave other results"));
  for (size_t i = 0; i < results.size(); ++i) {
    auto origin = step.results[i].origin;
    if (origin == ResultTensor::Origin::Fresh || origin == ResultTensor::Origin::View) add(results[i]);
  }
  for (const HistoryChange& h : step.history) history_[static_cast<size_t>(h.handle)] = {h.requires_grad, h.is_leaf};
}

std::vector<Handle> Shadow::leaves_behind(const std::vector<Handle>& outputs) {
  std::unordered_set<const void*> seen;
  std::vector<GradNode*> stack;
  std::vector<Handle> leaves;
  auto visit = [&](const Edge& e) {
    if (e.node && seen.insert(e.node.get()).second) stack.push_back(e.node.get());
    if (!e.leaf || !seen.insert(e.leaf.get()).second) return;
    auto h = handles_.find(e.leaf.get());
    if (h != handles_.end()) leaves.push_back(h->second);
  };
  for (Handle h : outputs) visit(gradient_edge((*this)[h]));
  while (!stack.empty()) {
    GradNode* node = stack.back();
    stack.pop_back();
    for (const Edge& e : node->edges) visit(e);
  }
  std::sort(leaves.begin(), leaves.end());
  return leaves;
}

}  // namespace fuselet::match
