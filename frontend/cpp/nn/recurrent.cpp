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
                     const RecurrentOptions& options)
    : Module(std::move(kind)),
      num_states_(num_states),
      input_size_(input_size),
      hidden_size_(hidden_size),
      options_(options) {
  FUSELET_CHECK(input_size > 0 && hidden_size > 0 && options.num_layers > 0, this->kind(),
                ": expected positive sizes, got ", input_size, ", ", hidden_size, " and ", options.num_layers);
  FUSELET_CHECK(options.dropout >= 0 && options.dropout <= 1, this->kind(), ": dropout must lie in [0, 1], got ",
                options.dropout);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  const int64_t directions = options.bidirectional ? 2 : 1;
  for (int64_t layer = 0; layer < options.num_layers; ++layer) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      auto add = [&](const char* name, IntList shape, bool present = true) {
        register_parameter(name + suffix(layer, direction),
                           present ? init::uniform_(empty(shape), -bound, bound) : Tensor());
      };
      add("weight_ih", {gates * hidden_size, layer == 0 ? input_size : hidden_size * directions});
      add("weight_hh", {gates * hidden_size, hidden_size});
      add("bias_ih", {gates * hidden_size}, options.bias);
      add("bias_hh", {gates * hidden_size}, options.bias);
    }
  }
}

std::string Recurrent::suffix(int64_t layer, int64_t direction) const {
  return "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
}

Tensor Recurrent::forward(const Tensor& input) {
  std::vector<Tensor> states;
  return forward(input, states);
}

void Recurrent::check_states(const std::vector<Tensor>& states, int64_t samples) const {
  FUSELET_CHECK(states.size() == num_states_, kind(), ": expected ", num_states_, " states, got ", states.size());
  const Dims wanted{SymInt(options_.num_layers * (options_.bidirectional ? 2 : 1)), SymInt(samples),
                    SymInt(hidden_size_)};
  for (const Tensor& s : states) {
    FUSELET_CHECK(same_sizes(s.sizes(), wanted), kind(), ": expected a state of shape ", to_string(wanted), ", got ",
                  to_string(s.sizes()));
  }
}

Tensor Recurrent::run(const Tensor& x, std::vector<Tensor>& state, const std::string& suffix, bool backwards) const {
  const Tensor steps = linear(x, parameter("weight_ih" + suffix), parameter("bias_ih" + suffix));
  const Tensor &weight = parameter("weight_hh" + suffix), &bias = parameter("bias_hh" + suffix);
  const int64_t length = x.size(0);
  std::vector<Tensor> outputs(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const int64_t t = backwards ? length - 1 - i : i;
    state = advance(select(steps, 0, t), state, weight, bias);
    outputs[static_cast<size_t>(t)] = state[0];
  }
  return stack(outputs);
}

Tensor Recurrent::forward(const Tensor& input, std::vector<Tensor>& states) {
  const bool alone = input.dim() == 2;
  FUSELET_CHECK((alone || input.dim() == 3) && input.size(-1) == input_size_, kind(), ": expected (",
                options_.batch_first ? "N, T, " : "T, N, ", input_size_, ") or (T, ", input_size_, "), got shape ",
                to_string(input.sizes()));
  Tensor x = alone ? unsqueeze(input, 1) : options_.batch_first ? transpose(input, 0, 1) : input;
  FUSELET_CHECK(x.size(0) > 0, kind(), ": expected at least one step, got shape ", to_string(input.sizes()));
  const int64_t directions = options_.bidirectional ? 2 : 1;
  std::vector<Tensor> first = states;
  if (first.empty()) {
    first.assign(num_states_,
                 zeros({options_.num_layers * directions, x.size(1), hidden_size_}, x.dtype(), x.device()));
  } else if (alone) {
    for (Tensor& s : first) s = unsqueeze(s, 1);
  }
  check_states(first, x.size(1));
  std::vector<std::vector<Tensor>> last(num_states_);
  for (int64_t layer = 0; layer < options_.num_layers; ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < directions; ++direction) {
      std::vector<Tensor> state;
      for (const Tensor& s : first) state.push_back(select(s, 0, layer * directions + direction));
      outputs.push_back(run(x, state, suffix(layer, direction), direction == 1));
      for (size_t k = 0; k < num_states_; ++k) last[k].push_back(state[k]);
    }
    x = directions == 1 ? outputs[0] : cat(outputs, -1);
    if (options_.dropout > 0 && layer + 1 < options_.num_layers) x = dropout(x, options_.dropout, is_training());
  }
  for (size_t k = 0; k < num_states_; ++k) first[k] = alone ? squeeze(stack(last[k]), 1) : stack(last[k]);
  states = std::move(first);
  return alone ? squeeze(x, 1) : options_.batch_first ? transpose(x, 0, 1) : x;
}

RNN::RNN(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options, const std::string& nonlinearity)
    : Recurrent("RNN", 1, 1, input_size, hidden_size, options), is_relu_(nonlinearity == "relu") {
  FUSELET_CHECK(is_relu_ || nonlinearity == "tanh", "RNN: nonlinearity must be 'tanh' or 'relu', got '", nonlinearity,
                "'");
}

std::vector<Tensor> RNN::advance(const Tensor& from_input, const std::vector<Tensor>& state, const Tensor& weight,
                                 const Tensor& bias) const {
  Tensor sum = from_input + linear(state[0], weight, bias);
  return {is_relu_ ? relu(sum) : tanh(sum)};
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
