// Module: parameters, buffers and submodules under names, and what can be done with all of them at once.
//
// A Module is a handle, as a Tensor is: copies share parameters, buffers, submodules and the training flag. So layers
// are plain members, and Sequential, containers and functions take them by value:
//
//   struct Net : nn::Module {
//     nn::Linear hidden = register_module("hidden", nn::Linear(64, 128));
//     nn::Linear output = register_module("output", nn::Linear(128, 10));
//     Tensor forward(const Tensor& x) override { return output(relu(hidden(x))); }
//   };
//
// Names are unique inside a module and contain no dot; a nested name joins them with dots ("hidden.weight"). A tensor
// or module registered more than once (tied weights) is listed once, under its first name in registration order.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dispatch_state.h"
#include "core/tensor.h"

namespace fuselet::nn {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

class Module {
 public:
  // `kind` is what printing shows and what `apply` can tell layers apart by: "Linear".
  explicit Module(std::string kind = "Module");
  virtual ~Module() = default;

  // Runs `forward` with the caller's line as the origin of the operators inside the library.
  Tensor operator()(const Tensor& input, Location line = Location::current()) {
    LineScope scope(&line);
    return forward(input);
  }
  // Error unless a subclass defines it.
  virtual Tensor forward(const Tensor& input);

  // Parameters require grad; returns the tensor, which a subclass may keep as a member. An undefined tensor is an
  // absent parameter (a layer without bias).
  Tensor register_parameter(std::string name, Tensor value, bool requires_grad = true);
  Tensor register_buffer(std::string name, Tensor value);
  template <class M>
  M register_module(std::string name, M module) {
    add_module(std::move(name), module);
    return module;
  }

  // A parameter or buffer of this module itself; undefined where it is absent, Error for an unknown name.
  const Tensor& parameter(std::string_view name) const;
  const Tensor& buffer(std::string_view name) const;
  // Puts another tensor of the same shape in the place of a parameter: `head.set_parameter("weight", table.weight())`
  // ties two layers. Tensors that members keep are not replaced.
  void set_parameter(std::string_view name, Tensor value);

  // Makes a parameter a function of others: `name` gives way to the parameters `parts`, and whoever reads
  // parameter(name) gets compute(parts), worked out anew. Error for an unknown name and for parts that are taken.
  using ComputeParameter = std::function<Tensor(const std::vector<Tensor>&)>;
  void compute_parameter(const std::string& name, const NamedTensors& parts, ComputeParameter compute);
  // Undoes that: the value as it is now becomes the parameter `name`, and the parts go.
  void keep_computed_parameter(const std::string& name);

  std::vector<Tensor> parameters() const;
  NamedTensors named_parameters() const;
  NamedTensors named_buffers() const;
  // This module and all below it, each once.
  std::vector<Module> modules() const;
  std::vector<std::pair<std::string, Module>> named_modules() const;
  std::vector<std::pair<std::string, Module>> children() const;
  // Calls f with every module below this one, then with this one.
  void apply(const std::function<void(Module&)>& f);

  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return state_->training; }
  // Drops the gradients, or fills them with zeros.
  void zero_grad(bool set_to_none = true);
  // Floating parameters and buffers become `dtype`; they stay the same tensors, so optimizers keep hold of them.
  void to(DType dtype);
  void to(Device device);

  // Parameters, then buffers, by name; the tensors themselves, not copies.
  NamedTensors state_dict() const;
  // Copies values into parameters and buffers. Everything is checked first (names missing or unexpected if strict,
  // shapes, float against integer), so an Error leaves the module as it was.
  void load_state_dict(const NamedTensors& state, bool strict = true);

  const std::string& kind() const { return state_->kind; }
  bool is_same(const Module& other) const { return state_ == other.state_; }

 private:
  struct State;
  using StatePtr = std::shared_ptr<State>;
  struct Computed {
    std::string name;
    std::vector<std::string> parts;
    ComputeParameter compute;
    Tensor value;  // of the last reading
  };
  struct State {
    std::string kind;
    bool training = true;
    NamedTensors parameters, buffers;
    std::vector<Computed> computed;
    std::vector<std::pair<std::string, StatePtr>> children;
  };
  struct Handle {
    StatePtr state;
  };
  explicit Module(Handle handle) : state_(std::move(handle.state)) {}
  void add_module(std::string name, const Module& module);
  void check_new_name(const std::string& name) const;
  Computed* find_computed(std::string_view name) const;
  Tensor compute(const Computed& computed) const;
  void drop_parameter(const std::string& name);
  NamedTensors collect(NamedTensors State::*list, bool keep_aliases) const;
  void convert(std::optional<DType> dtype, std::optional<Device> device);

  StatePtr state_;
};

// One line a module, nested by indentation, with the shapes of its parameters.
std::string to_string(const Module& module);

}  // namespace fuselet::nn
