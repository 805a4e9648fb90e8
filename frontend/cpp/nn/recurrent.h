// RNN (tanh or ReLU), LSTM (Hochreiter and Schmidhuber 1997) and GRU (Cho et al. 2014) over sequences
// (T, N, input_size), any number of layers, in one direction or both.
//
// Parameters weight_ih_l0 (gates H, I), weight_hh_l0 (gates H, H), bias_ih_l0 and bias_hh_l0, and so on for each layer
// (a suffix _reverse for the second direction), start uniform in ±1/sqrt(hidden_size). Rows are gates one after
// another: i, f, g, o for LSTM; r, z, n for GRU.
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

struct RecurrentOptions {
  int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;    // sequences (N, T, …); states keep N in the middle
  double dropout = 0;          // of the outputs between two layers, while training
  bool bidirectional = false;  // a second pass from the end; outputs are those of both, side by side
};

class Recurrent : public Module {
 public:
  // (T, N, input_size) -> (T, N, hidden_size · directions): the last layer's outputs, from states of 0. N may be
  // absent.
  Tensor forward(const Tensor& input) override;
  // The same from given states, each (num_layers · directions, N, hidden_size), which become the last ones. LSTM:
  // {h, c}; the others: {h}.
  Tensor forward(const Tensor& input, std::vector<Tensor>& states);

 protected:
  Recurrent(std::string kind, int64_t gates, size_t num_states, int64_t input_size, int64_t hidden_size,
            const RecurrentOptions& options);
  // One step: W_ih x + b_ih, the states before, and the parameters of the state's part, to the states after.
  virtual std::vector<Tensor> advance(const Tensor& from_input, const std::vector<Tensor>& state, const Tensor& weight,
                                      const Tensor& bias) const = 0;

 private:
  // What a parameter's name ends with: "_l0", "_l0_reverse".
  std::string suffix(int64_t layer, int64_t direction) const;
  void check_states(const std::vector<Tensor>& states, int64_t samples) const;
  // One layer in one direction: (T, N, …) -> (T, N, hidden_size); `state` becomes the last one.
  Tensor run(const Tensor& x, std::vector<Tensor>& state, const std::string& suffix, bool backwards) const;

  size_t num_states_;
  int64_t input_size_, hidden_size_;
  RecurrentOptions options_;
};

// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or with nonlinearity "relu" the positive part instead
class RNN : public Recurrent {
 public:
  RNN(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {},
      const std::string& nonlinearity = "tanh");

 protected:
  std::vector<Tensor> advance(const Tensor& from_input, const std::vector<Tensor>& state, const Tensor& weight,
                              const Tensor& bias) const override;

 private:
  bool is_relu_;
};

// c' = σ(f) c + σ(i) tanh(g), h' = σ(o) tanh(c')
class LSTM : public Recurrent {
 public:
  LSTM(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {})
      : Recurrent("LSTM", 4, 2, input_size, hidden_size, options) {}
  LSTM(int64_t input_size, int64_t hidden_size, int64_t num_layers)
      : LSTM(input_size, hidden_size, RecurrentOptions{.num_layers = num_layers}) {}

 protected:
  std::vector<Tensor> advance(const Tensor& from_input, const std::vector<Tensor>& state, const Tensor& weight,
                              const Tensor& bias) const override;
};

// n = tanh(W_in x + b_in + r (W_hn h + b_hn)), h' = (1 - z) n + z h
class GRU : public Recurrent {
 public:
  GRU(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {})
      : Recurrent("GRU", 3, 1, input_size, hidden_size, options) {}
  GRU(int64_t input_size, int64_t hidden_size, int64_t num_layers)
      : GRU(input_size, hidden_size, RecurrentOptions{.num_layers = num_layers}) {}

 protected:
  std::vector<Tensor> advance(const Tensor& from_input, const std::vector<Tensor>& state, const Tensor& weight,
                              const Tensor& bias) const override;
};

}  // namespace fuselet::nn
