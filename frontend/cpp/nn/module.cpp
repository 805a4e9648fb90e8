#include "frontend/cpp/nn/module.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/ops/functions.h"
#include "core/recording.h"

namespace fuselet::nn {
namespace {

auto find_name(const NamedTensors& list, std::string_view name) {
  return std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == name; });
}

const Tensor& look_up(const NamedTensors& list, std::string_view name, const char* what, const std::string& kind) {
  auto at = find_name(list, name);
  FUSELET_CHECK(at != list.end(), kind, " has no ", what, " '", name, "'");
  return at->second;
}

}  // namespace

Module::Module(std::string kind) : state_(std::make_shared<State>()) { state_->kind = std::move(kind); }

Tensor Module::forward(const Tensor&) {
  fail(kind(), ": no forward(const Tensor&) here; it belongs to the layer itself, not to a handle from modules()");
}

void Module::check_new_name(const std::string& name) const {
  FUSELET_CHECK(!name.empty() && name.find('.') == std::string::npos, kind(), ": the name '", name,
                "' is empty or contains a dot");
  bool taken =
      find_name(state_->parameters, name) != state_->parameters.end() ||
      find_name(state_->buffers, name) != state_->buffers.end() || find_computed(name) ||
      std::any_of(state_->children.begin(), state_->children.end(), [&](const auto& c) { return c.first == name; });
  FUSELET_CHECK(!taken, kind(), ": the name '", name, "' is taken");
}

Tensor Module::register_parameter(std::string name, Tensor value, bool requires_grad) {
  check_new_name(name);
  if (value.defined()) {
    FUSELET_CHECK(value.is_leaf(), kind(), ": the parameter '", name,
                  "' must be a leaf, not the result of a recorded operator");
    if (requires_grad) value.requires_grad_();
  }
  state_->parameters.emplace_back(std::move(name), value);
  return value;
}

Tensor Module::register_buffer(std::string name, Tensor value) {
  check_new_name(name);
  state_->buffers.emplace_back(std::move(name), value);
  return value;
}

void Module::add_module(std::string name, const Module& module) {
  check_new_name(name);
  for (const Module& below : module.modules()) {
    FUSELET_CHECK(!below.is_same(*this), kind(), ": '", name, "' contains this module; a module cannot contain itself");
  }
  state_->children.emplace_back(std::move(name), module.state_);
}

const Tensor& Module::parameter(std::string_view name) const {
  if (Computed* computed = find_computed(name)) return computed->value = compute(*computed);
  return look_up(state_->parameters, name, "parameter", kind());
}
const Tensor& Module::buffer(std::string_view name) const { return look_up(state_->buffers, name, "buffer", kind()); }

void Module::set_parameter(std::string_view name, Tensor value) {
  const Tensor& old = look_up(state_->parameters, name, "parameter", kind());
  FUSELET_CHECK(value.defined() && (!old.defined() || same_sizes(old.sizes(), value.sizes())), kind(),
                ": expected a parameter '", name, "' of shape ", old.defined() ? to_string(old.sizes()) : "any",
                ", got ", value.defined() ? to_string(value.sizes()) : std::string("an undefined tensor"));
  const_cast<Tensor&>(old) = std::move(value);
}

Module::Computed* Module::find_computed(std::string_view name) const {
  for (Computed& computed : state_->computed) {
    if (computed.name == name) return &computed;
  }
  return nullptr;
}

Tensor Module::compute(const Computed& computed) const {
  std::vector<Tensor> parts;
  for (const std::string& part : computed.parts) parts.push_back(parameter(part));
  return computed.compute(parts);
}

void Module::drop_parameter(const std::string& name) { state_->parameters.erase(find_name(state_->parameters, name)); }

void Module::compute_parameter(const std::string& name, const NamedTensors& parts, ComputeParameter compute) {
  look_up(state_->parameters, name, "parameter", kind());
  Computed computed{name, {}, std::move(compute), {}};
  for (const auto& [part, value] : parts) check_new_name(part);
  for (const auto& [part, value] : parts) {
    register_parameter(part, value);
    computed.parts.push_back(part);
  }
  drop_parameter(name);
  state_->computed.push_back(std::move(computed));
}

void Module::keep_computed_parameter(const std::string& name) {
  Computed* found = find_computed(name);
  FUSELET_CHECK(found, kind(), ": the parameter '", name, "' is not computed from others");
  NoGradGuard no_grad;
  Tensor value = compute(*found).clone();
  for (const std::string& part : found->parts) drop_parameter(part);
  state_->computed.erase(state_->computed.begin() + (found - state_->computed.data()));
  register_parameter(name, value);
}

std::vector<std::pair<std::string, Module>> Module::named_modules() const {
  std::vector<std::pair<std::string, Module>> found;
  std::set<const State*> seen;
  auto visit = [&](auto&& self, const std::string& prefix, const StatePtr& state) -> void {
    if (!seen.insert(state.get()).second) return;
    found.emplace_back(prefix, Module(Handle{state}));
    for (const auto& [name, child] : state->children) self(self, prefix.empty() ? name : prefix + "." + name, child);
  };
  visit(visit, "", state_);
  return found;
}

std::vector<Module> Module::modules() const {
  std::vector<Module> found;
  for (auto& [name, module] : named_modules()) found.push_back(module);
  return found;
}

std::vector<std::pair<std::string, Module>> Module::children() const {
  std::vector<std::pair<std::string, Module>> found;
  for (const auto& [name, child] : state_->children) found.emplace_back(name, Module(Handle{child}));
  return found;
}

void Module::apply(const std::function<void(Module&)>& f) {
  std::vector<Module> all = modules();
  for (auto module = all.rbegin(); module != all.rend(); ++module) f(*module);
}

NamedTensors Module::collect(NamedTensors State::*list, bool keep_aliases) const {
  NamedTensors found;
  std::set<const TensorImpl*> seen;
  for (const auto& [prefix, module] : named_modules()) {
    for (const auto& [name, value] : module.state_.get()->*list) {
      if (!value.defined() || (!seen.insert(value.impl()).second && !keep_aliases)) continue;
      found.emplace_back(prefix.empty() ? name : prefix + "." + name, value);
    }
  }
  return found;
}

NamedTensors Module::named_parameters() const { return collect(&State::parameters, false); }
NamedTensors Module::named_buffers() const { return collect(&State::buffers, false); }

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> found;
  for (auto& [name, value] : named_parameters()) found.push_back(value);
  return found;
}

void Module::train(bool on) {
  for (Module& module : modules()) module.state_->training = on;
}

void Module::zero_grad(bool set_to_none) {
  NoGradGuard no_grad;
  for (Tensor& p : parameters()) {
    if (set_to_none || !p.grad().defined()) {
      p.set_grad({});
    } else {
      p.grad().copy_(0);
    }
  }
}

void Module::to(DType dtype) {
  FUSELET_CHECK(is_float(dtype), "Module::to: expected a floating dtype, got ", name_of(dtype));
  convert(dtype, std::nullopt);
}
void Module::to(Device device) { convert(std::nullopt, device); }

void Module::convert(std::optional<DType> dtype, std::optional<Device> device) {
  NoGradGuard no_grad;
  std::vector<std::pair<Tensor, Tensor>> changes;
  for (auto& [name, value] : state_dict()) {
    DType to = dtype && is_float(value.dtype()) ? *dtype : value.dtype();
    Device place = device.value_or(value.device());
    if (to == value.dtype() && place == value.device()) continue;
    Tensor fresh = empty(value.sizes(), to, place);
    fresh.copy_(value);
    changes.emplace_back(value, fresh);
  }
  if (CompiledCall* call = dispatch_state().compiled_call) call->refuse("moving a module to another dtype or device");
  for (auto& [value, fresh] : changes) {
    TensorImpl* f = fresh.impl();
    value.set_grad({});
    value.impl()->set_data(f->storage(), Dims(f->sizes()), Dims(f->strides()), f->offset(), f->dtype());
  }
}

NamedTensors Module::state_dict() const {
  NamedTensors found = named_parameters();
  for (auto& entry : named_buffers()) found.push_back(std::move(entry));
  return found;
}

void Module::load_state_dict(const NamedTensors& state, bool strict) {
  std::map<std::string, Tensor> own;
  for (auto list : {&State::parameters, &State::buffers}) {
    for (auto& [name, value] : collect(list, true)) own.emplace(name, value);
  }
  std::vector<std::pair<Tensor, Tensor>> copies;
  std::set<const TensorImpl*> given;
  std::set<std::string> names;
  std::string problems;
  for (const auto& [name, value] : state) {
    FUSELET_CHECK(value.defined(), "load_state_dict: '", name, "' is undefined");
    if (!names.insert(name).second) problems += concat("\n  given twice: ", name);
    auto target = own.find(name);
    if (target == own.end()) {
      if (strict) problems += concat("\n  unexpected: ", name);
      continue;
    }
    const Tensor& to = target->second;
    if (!same_sizes(to.sizes(), value.sizes())) {
      problems += concat("\n  ", name, ": shape ", to_string(value.sizes()), " does not fit ", to_string(to.sizes()));
    } else if (is_float(to.dtype()) != is_float(value.dtype())) {
      problems += concat("\n  ", name, ": dtype ", name_of(value.dtype()), " does not fit ", name_of(to.dtype()));
    } else if (given.insert(to.impl()).second) {
      copies.emplace_back(to, value);
    }
  }
  if (strict) {
    for (const auto& [name, value] : state_dict()) {
      if (!given.count(value.impl()) && !names.count(name)) problems += concat("\n  missing: ", name);
    }
  }
  FUSELET_CHECK(problems.empty(), "load_state_dict: the state does not fit this ", kind(), ":", problems);
  NoGradGuard no_grad;
  for (auto& [to, from] : copies) to.copy_(from);
}

std::string to_string(const Module& module) {
  std::string text;
  auto visit = [&](auto&& self, const std::string& name, const Module& m, size_t depth) -> void {
    text += std::string(2 * depth, ' ') + (name.empty() ? "" : name + ": ") + m.kind() + "\n";
    for (const auto& [child_name, child] : m.children()) self(self, child_name, child, depth + 1);
    if (!m.children().empty()) return;
    for (const auto& [tensor_name, value] : m.named_parameters()) {
      text += std::string(2 * depth + 2, ' ') + tensor_name + " " + to_string(value.sizes()) + "\n";
    }
  };
  visit(visit, "", module, 0);
  return text;
}

}  // namespace fuselet::nn
