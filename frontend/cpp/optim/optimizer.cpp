#include "frontend/cpp/optim/optimizer.h"

#include <algorithm>
#include <map>

#include "core/ops/functions.h"

namespace fuselet::optim {

void Optimizer::add_group(std::vector<Tensor> parameters, double lr, size_t num_slots) {
  FUSELET_CHECK(!parameters.empty(), kind_, ": a group has no parameters");
  FUSELET_CHECK(lr >= 0, kind_, ": the learning rate must not be negative, got ", lr);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& p = parameters[i];
    FUSELET_CHECK(p.defined() && p.is_leaf() && is_float(p.dtype()), kind_, ": parameter ", i,
                  " must be a floating leaf; the result of an operator cannot be optimized");
    auto same = [&](const Tensor& other) { return other.is_same(p); };
    bool twice = std::any_of(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(i), same);
    for (const ParameterGroup& group : groups_)
      twice |= std::any_of(group.parameters.begin(), group.parameters.end(), same);
    FUSELET_CHECK(!twice, kind_, ": parameter ", i, " is given twice");
  }
  size_t n = parameters.size();
  groups_.push_back({std::move(parameters), make_intrusive<HostCell>(lr, "lr"), std::nullopt, std::vector<CellPtr>(n),
                     std::vector<std::vector<Tensor>>(num_slots, std::vector<Tensor>(n))});
}

void Optimizer::set_lr(double lr, size_t group) {
  FUSELET_CHECK(lr >= 0, kind_, ": the learning rate must not be negative, got ", lr);
  groups_.at(group).lr->set(lr);
}

double Optimizer::initial_lr(size_t group) {
  std::optional<double>& first = groups_.at(group).initial_lr;
  if (!first) first = lr(group);
  return *first;
}

void Optimizer::set_initial_lr(double lr, size_t group) { groups_.at(group).initial_lr = lr; }

Optimizer::SlotStart Optimizer::slot_start(size_t, const Tensor& parameter) const {
  return {Dims(parameter.sizes()), parameter.dtype(), 0};
}

void Optimizer::set_all_lr(double lr) {
  for (size_t g = 0; g < groups_.size(); ++g) set_lr(lr, g);
}

int64_t Optimizer::steps_taken(const Tensor& parameter) const {
  for (const ParameterGroup& group : groups_) {
    for (size_t i = 0; i < group.parameters.size(); ++i) {
      if (!group.parameters[i].is_same(parameter)) continue;
      return group.step_cells[i] ? static_cast<int64_t>(group.step_cells[i]->get()) : 0;
    }
  }
  fail(kind_, ": steps_taken of a tensor that is none of its parameters");
}

void Optimizer::zero_grad(bool set_to_none) {
  NoGradGuard no_grad;
  for (ParameterGroup& group : groups_) {
    for (Tensor& p : group.parameters) {
      if (set_to_none || !p.grad().defined()) {
        p.set_grad({});
      } else {
        p.grad().copy_(0);
      }
    }
  }
}

std::vector<Optimizer::Lockstep> Optimizer::lockstep_sets(ParameterGroup& group) {
  // A set is split once some of its members lack a gradient: those that go on get a cell of their own.
  std::map<HostCell*, bool> complete;
  std::vector<Tensor> grads;
  for (size_t i = 0; i < group.parameters.size(); ++i) {
    grads.push_back(group.parameters[i].grad());
    auto [at, fresh] = complete.emplace(group.step_cells[i].get(), true);
    at->second &= grads[i].defined();
  }
  std::vector<Lockstep> sets;
  std::map<HostCell*, size_t> set_of;
  for (size_t i = 0; i < group.parameters.size(); ++i) {
    if (!grads[i].defined()) continue;
    CellPtr cell = group.step_cells[i];
    auto [at, fresh] = set_of.emplace(cell.get(), sets.size());
    if (fresh) {
      Lockstep set;
      set.step = cell && complete[cell.get()] ? cell : make_intrusive<HostCell>(cell ? cell->get() : 0, "step");
      set.slots.resize(group.slots.size());
      sets.push_back(std::move(set));
    }
    Lockstep& set = sets[at->second];
    group.step_cells[i] = set.step;
    set.parameters.push_back(group.parameters[i]);
    set.grads.push_back(grads[i]);
    for (size_t k = 0; k < group.slots.size(); ++k) {
      Tensor& slot = group.slots[k][i];
      if (!slot.defined()) {
        // Outside a running recording, which then binds it as state; made inside, every replay would begin anew.
        PauseRecordingGuard pause;
        const SlotStart start = slot_start(k, group.parameters[i]);
        slot = full(start.sizes, start.value, start.dtype, group.parameters[i].device());
      }
      set.slots[k].push_back(slot);
    }
  }
  return sets;
}

void Optimizer::step(Location line) {
  LineScope scope(&line);
  NoGradGuard no_grad;
  // Before the first parameter or count changes: data may have been replaced since backward.
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (size_t i = 0; i < groups_[g].parameters.size(); ++i) {
      const Tensor &p = groups_[g].parameters[i], grad = p.grad();
      FUSELET_CHECK(!grad.defined() || (same_sizes(grad.sizes(), p.sizes()) && grad.dtype() == p.dtype()), kind_,
                    "::step: parameter ", i, " of group ", g, " has shape ", to_string(p.sizes()), " and dtype ",
                    name_of(p.dtype()), ", its gradient ", to_string(grad.sizes()), " and ", name_of(grad.dtype()));
    }
  }
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (const Lockstep& set : lockstep_sets(groups_[g])) {
      set.step->advance(1);
      update(g, set);
    }
  }
}

State Optimizer::state_dict() const {
  State state;
  state.values["kind"] = kind_;
  state.set_uint("groups", groups_.size());
  size_t number = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const ParameterGroup& group = groups_[g];
    std::string prefix = "group." + std::to_string(g) + ".";
    state.set_uint(prefix + "size", group.parameters.size());
    state.set_double(prefix + "lr", group.lr->get());
    for (const CellPtr& cell : extra_cells(g)) state.set_double(prefix + cell->name(), cell->get());
    for (size_t i = 0; i < group.parameters.size(); ++i, ++number) {
      if (!group.step_cells[i]) continue;
      state.set_double(std::to_string(number) + ".step", group.step_cells[i]->get());
      for (size_t k = 0; k < group.slots.size(); ++k) {
        state.tensors.emplace_back(std::to_string(number) + "." + slot_name(k), group.slots[k][i]);
      }
    }
  }
  return state;
}

void Optimizer::load_state_dict(const State& state) {
  FUSELET_CHECK(state.get_text("kind") == kind_, kind_, ": the state belongs to ", state.get_text("kind"));
  FUSELET_CHECK(state.get_uint("groups") == groups_.size(), kind_, ": the state has ", state.get_uint("groups"),
                " groups, this optimizer ", groups_.size());
  std::vector<std::pair<CellPtr, double>> cells;
  std::vector<ParameterGroup> loaded = groups_;
  size_t number = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    ParameterGroup& group = loaded[g];
    std::string prefix = "group." + std::to_string(g) + ".";
    FUSELET_CHECK(state.get_uint(prefix + "size") == group.parameters.size(), kind_, ": group ", g,
                  " of the state has ", state.get_uint(prefix + "size"), " parameters, this optimizer's ",
                  group.parameters.size());
    cells.emplace_back(group.lr, state.get_double(prefix + "lr"));
    for (const CellPtr& cell : extra_cells(g)) cells.emplace_back(cell, state.get_double(prefix + cell->name()));
    std::map<double, CellPtr> by_count;
    for (size_t i = 0; i < group.parameters.size(); ++i, ++number) {
      std::string own = std::to_string(number);
      bool stepped = state.has(own + ".step");
      group.step_cells[i] = nullptr;
      if (stepped) {
        double count = state.get_double(own + ".step");
        CellPtr& cell = by_count[count];
        if (!cell) cell = make_intrusive<HostCell>(count, "step");
        group.step_cells[i] = cell;
      }
      for (size_t k = 0; k < group.slots.size(); ++k) {
        std::string name = own + "." + slot_name(k);
        const Tensor* saved = stepped ? state.find_tensor(name) : nullptr;
        group.slots[k][i] = Tensor();
        if (!stepped) continue;
        FUSELET_CHECK(saved, kind_, ": the state lacks '", name, "'");
        const Dims sizes = slot_start(k, group.parameters[i]).sizes;
        FUSELET_CHECK(same_sizes(saved->sizes(), sizes) && is_float(saved->dtype()), kind_, ": '", name, "' of shape ",
                      to_string(saved->sizes()), " and dtype ", name_of(saved->dtype()), " does not fit shape ",
                      to_string(sizes), ", for a parameter of shape ", to_string(group.parameters[i].sizes()));
        NoGradGuard no_grad;
        group.slots[k][i] = saved->clone(true);
      }
    }
  }
  groups_ = std::move(loaded);
  for (auto& [cell, value] : cells) cell->set(value);
}

}  // namespace fuselet::optim
