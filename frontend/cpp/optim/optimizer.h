// Optimizer: parameter groups, each with options of its own, and one table operator a group and step.
//
// Learning rate, betas and step counts live in host cells, so a recording of a step reads their current values:
// changing the learning rate needs no new recording, and each replay advances the count. Parameters that have taken the
// same number of steps share one cell and one operator call; a parameter without gradient is skipped and its count
// stands still.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/host_cell.h"
#include "core/tensor.h"
#include "frontend/cpp/checkpoint/state.h"

namespace fuselet::optim {

// Parameters that share options: SGD({{weights, {.lr = 0.1}}, {biases, {.lr = 0.2}}}).
template <class Options>
struct Group {
  std::vector<Tensor> parameters;
  Options options = {};
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Updates every parameter that has a gradient; records no gradient itself.
  void step(Location line = Location::current());
  void zero_grad(bool set_to_none = true);

  size_t num_groups() const { return groups_.size(); }
  const std::vector<Tensor>& parameters(size_t group = 0) const { return groups_.at(group).parameters; }
  double lr(size_t group = 0) const { return groups_.at(group).lr->get(); }
  void set_lr(double lr, size_t group = 0);
  // Of all groups.
  void set_all_lr(double lr);
  // The rate that the schedules of a group begin with: its rate when the first one was made, or what that one has set.
  double initial_lr(size_t group = 0);
  void set_initial_lr(double lr, size_t group = 0);
  // Steps that a parameter has taken.
  int64_t steps_taken(const Tensor& parameter) const;

  // Options that change while training, step counts, and the per-parameter tensors under "<parameter>.<slot>", where
  // parameters are counted through all groups. Shares the tensors.
  State state_dict() const;
  // Everything is checked before anything changes: number and sizes of groups, slots and shapes. Tensors are copied and
  // keep the dtype that they were saved with.
  void load_state_dict(const State& state);

 protected:
  struct ParameterGroup {
    std::vector<Tensor> parameters;
    CellPtr lr;
    std::optional<double> initial_lr;
    // One per parameter; null before its first step. Equal cells: steps taken together.
    std::vector<CellPtr> step_cells;
    // slots[k][i]: the k-th state tensor of parameter i; undefined before its first step.
    std::vector<std::vector<Tensor>> slots;
  };
  // What a state tensor is before the first step.
  struct SlotStart {
    Dims sizes;
    DType dtype;
    double value;
  };
  // Those of a group that step together.
  struct Lockstep {
    std::vector<Tensor> parameters, grads;
    std::vector<std::vector<Tensor>> slots;
    CellPtr step;
  };

  explicit Optimizer(std::string kind) : kind_(std::move(kind)) {}
  // Error for an empty group, a parameter in two groups, a non-leaf, or a negative learning rate.
  void add_group(std::vector<Tensor> parameters, double lr, size_t num_slots);
  // Runs the table's operator on tensors of group `index`.
  virtual void update(size_t index, const Lockstep& set) = 0;
  virtual const char* slot_name(size_t slot) const = 0;
  // Zeros like the parameter, unless a subclass says otherwise.
  virtual SlotStart slot_start(size_t slot, const Tensor& parameter) const;
  // Further cells of a group, saved under their names.
  virtual std::vector<CellPtr> extra_cells(size_t) const { return {}; }
  const CellPtr& lr_cell(size_t group) const { return groups_[group].lr; }

 private:
  std::vector<Lockstep> lockstep_sets(ParameterGroup& group);

  std::string kind_;
  std::vector<ParameterGroup> groups_;
};

}  // namespace fuselet::optim
