#include "frontend/cpp/nn/recurrent.h"

#include <cmath>

#include "core/ops/functions.h"
#include "frontend/cpp/nn/init.h"

namespace fuselet::nn {
namespace {

// Part `index` of `count` along the last dimension.
Tensor gate(const Tensor& x, int64_t index, int64_t count) {
  int64_t size = x.size(-1) / count;
  return narrow(x, -1, index * size, size);
}

}  // namespace

Recurrent::Recurrent(std::string kind, int64_t gates, size_t num_states, int64_t input_size, int64_t hidden_size,
                     int64_t num_layers)
    : Module(std::move(kind)),
      num_states_(num_states),
      input_size_(input_size),
      hidden_size_(hidden_size),
      num_layers_(num_layers) {
  FUSELET_CHECK(input_size > 0 && hidden_size > 0 && num_layers > 0, this->kind(), ": expected positive sizes, got ",
                input_size, ", ", hidden_size, " and ", num_layers);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  for (int64_t layer = 0; layer < num_layers; ++layer) {
    const std::string suffix = "_l" + std::to_string(layer);
    auto add = [&](const char* name, IntList shape) {
      register_parameter(name + suffix, init::uniform_(empty(shape), -bound, bound));
    };
    add("weight_ih", {gates * hidden_size, layer == 0 ? input_size : hidden_size});
    add("weight_hh", {gates * hidden_size, hidden_size});
    add("bias_ih", {gates * hidden_size});
    add("bias_hh", {gates * hidden_size});
  }
}

Tensor Recurrent::forward(const Tensor& input) {
  std::vector<Tensor> states;
  return forward(input, states);
}

Tensor Recurrent::forward(const Tensor& input, std::vector<Tensor>& states) {
  FUSELET_CHECK(input.dim() == 3 && input.size(2) == input_size_, kind(), ": expected (T, N, ", input_size_,
                "), got shape ", to_string(input.sizes()));
  if (states.empty()) {
    for (size_t k = 0; k < num_states_; ++k)
      states.push_back(zeros({num_layers_, input.size(1), hidden_size_}, input.dtype(), input.device()));
  }
  FUSELET_CHECK(states.size() == num_states_, kind(), ": expected ", num_states_, " states, got ", states.size());
  std::vector<std::vector<Tensor>> last(num_states_);
  Tensor x = input;
  for (int64_t layer = 0; layer < num_layers_; ++layer) {
    const std::string suffix = "_l" + std::to_string(layer);
    std::vector<Tensor> state, outputs;
    for (const Tensor& s : states) state.push_back(select(s, 0, layer));
    const Tensor steps = linear(x, parameter("weight_ih" + suffix), parameter("bias_ih" + suffix));
    const Tensor &weight = parameter("weight_hh" + suffix), &bias = parameter("bias_hh" + suffix);
    for (int64_t t = 0; t < input.size(0); ++t) {
      state = advance(select(steps, 0, t), state, weight, bias);
      outputs.push_back(state[0]);
    }
    x = stack(outputs);
    for (size_t k = 0; k < num_states_; ++k) last[k].push_back(state[k]);
  }
  for (size_t k = 0; k < num_states_; ++k) states[k] = stack(last[k]);
  return x;
}

std::vector<Tensor> LSTM::advance(const Tensor& from_input, const std::vector<Tensor>& state, const Tensor& weight,
                                  const Tensor& bias) const {
  Tensor gates = from_input + linear(state[0], weight, bias);
  Tensor c = sigmoid(gate(gates, 1, 4)) * state[1] + sigmoid(gate(gates, 0, 4)) * tanh(gate(gates, 2, 4));
  return {sigmoid(gate(gates, 3, 4)) * tanh(c), c};
}

std::vector<Tensor> GRU::advance(const Tensor& from_input, const std::vector<Tensor>& state, const Tensor& weight,
                                 const Tensor& bias) const {
  Tensor from_state = linear(state[0], weight, bias);
  Tensor r = sigmoid(gate(from_input, 0, 3) + gate(from_state, 0, 3));
  Tensor z = sigmoid(gate(from_input, 1, 3) + gate(from_state, 1, 3));
  Tensor n = tanh(gate(from_input, 2, 3) + r * gate(from_state, 2, 3));
  return {n + z * (state[0] - n)};
}

}  // namespace fuselet::nn
