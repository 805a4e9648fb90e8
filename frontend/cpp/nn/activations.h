// Layers without parameters: activation functions, Softmax, Dropout, Flatten, Identity.
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

struct ReLU : Module {
  ReLU() : Module("ReLU") {}
  Tensor forward(const Tensor& input) override;
};

struct SiLU : Module {
  SiLU() : Module("SiLU") {}
  Tensor forward(const Tensor& input) override;
};

struct Tanh : Module {
  Tanh() : Module("Tanh") {}
  Tensor forward(const Tensor& input) override;
};

struct Sigmoid : Module {
  Sigmoid() : Module("Sigmoid") {}
  Tensor forward(const Tensor& input) override;
};

struct Identity : Module {
  Identity() : Module("Identity") {}
  Tensor forward(const Tensor& input) override { return input; }
};

// x Phi(x); with approximate "tanh" its tanh form.
class GELU : public Module {
 public:
  explicit GELU(std::string approximate = "none");
  Tensor forward(const Tensor& input) override;

 private:
  std::string approximate_;
};

class Softmax : public Module {
 public:
  explicit Softmax(int64_t dim) : Module("Softmax"), dim_(dim) {}
  Tensor forward(const Tensor& input) override;

 private:
  int64_t dim_;
};

// While training, elements are zeroed with probability p and the rest scaled by 1 / (1 - p).
class Dropout : public Module {
 public:
  explicit Dropout(double p = 0.5);
  Tensor forward(const Tensor& input) override;

 private:
  double p_;
};

// Dimensions start_dim … end_dim as one.
class Flatten : public Module {
 public:
  explicit Flatten(int64_t start_dim = 1, int64_t end_dim = -1)
      : Module("Flatten"), start_dim_(start_dim), end_dim_(end_dim) {}
  Tensor forward(const Tensor& input) override;

 private:
  int64_t start_dim_, end_dim_;
};

}  // namespace fuselet::nn
