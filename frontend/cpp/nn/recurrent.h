// LSTM (Hochreiter and Schmidhuber 1997) and GRU (Cho et al. 2014) over sequences (T, N, input_size), any number of
// layers.
//
// Parameters weight_ih_l0 (gates H, I), weight_hh_l0 (gates H, H), bias_ih_l0 and bias_hh_l0, and so on for each layer,
// start uniform in ±1/sqrt(hidden_size). Rows are gates one after another: i, f, g, o for LSTM; r, z, n for GRU.
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

class Recurrent : public Module {
 public:
  // (T, N, input_size) -> (T, N, hidden_size): the last layer's outputs, from states of 0.
  Tensor forward(const Tensor& input) override;
  // The same from given states, each (num_layers, N, hidden_size), which become the last ones. LSTM: {h, c}; GRU: {h}.
  Tensor forward(const Tensor& input, std::vector<Tensor>& states);

 protected:
  Recurrent(std::string kind, int64_t gates, size_t num_states, int64_t input_size, int64_t hidden_size,
            int64_t num_layers);
  // One step: W_ih x + b_ih, the states before, and the parameters of the state's part, to the states after.
  virtual std::vector<Tensor> advance(const Tensor& from_input, const std::vector<Tensor>& state, const Tensor& weight,
                                      const Tensor& bias) const = 0;

 private:
  size_t num_states_;
  int64_t input_size_, hidden_size_, num_layers_;
};

class LSTM : public Recurrent {
 public:
  LSTM(int64_t input_size, int64_t hidden_size, int64_t num_layers = 1)
      : Recurrent("LSTM", 4, 2, input_size, hidden_size, num_layers) {}

 protected:
  std::vector<Tensor> advance(const Tensor& from_input, const std::vector<Tensor>& state, const Tensor& weight,
                              const Tensor& bias) const override;
};

class GRU : public Recurrent {
 public:
  GRU(int64_t input_size, int64_t hidden_size, int64_t num_layers = 1)
      : Recurrent("GRU", 3, 1, input_size, hidden_size, num_layers) {}

 protected:
  std::vector<Tensor> advance(const Tensor& from_input, const std::vector<Tensor>& state, const Tensor& weight,
                              const Tensor& bias) const override;
};

}  // namespace fuselet::nn
