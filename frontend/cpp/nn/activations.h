// Activation functions, Softmax, Dropout, Flatten, Identity: layers that act on elements or slices one by one. Only
// PReLU has a parameter. Formulas are the operators'.
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

struct Mish : Module {
  Mish() : Module("Mish") {}
  Tensor forward(const Tensor& input) override;
};

struct SELU : Module {
  SELU() : Module("SELU") {}
  Tensor forward(const Tensor& input) override;
};

struct ReLU6 : Module {
  ReLU6() : Module("ReLU6") {}
  Tensor forward(const Tensor& input) override;
};

struct Hardswish : Module {
  Hardswish() : Module("Hardswish") {}
  Tensor forward(const Tensor& input) override;
};

struct Hardsigmoid : Module {
  Hardsigmoid() : Module("Hardsigmoid") {}
  Tensor forward(const Tensor& input) override;
};

struct Softsign : Module {
  Softsign() : Module("Softsign") {}
  Tensor forward(const Tensor& input) override;
};

struct Tanhshrink : Module {
  Tanhshrink() : Module("Tanhshrink") {}
  Tensor forward(const Tensor& input) override;
};

struct LogSigmoid : Module {
  LogSigmoid() : Module("LogSigmoid") {}
  Tensor forward(const Tensor& input) override;
};

// x, or negative_slope x below 0
class LeakyReLU : public Module {
 public:
  explicit LeakyReLU(double negative_slope = 0.01) : Module("LeakyReLU"), negative_slope_(negative_slope) {}
  Tensor forward(const Tensor& input) override;

 private:
  double negative_slope_;
};

// x, or alpha (exp(x) - 1) below 0
class ELU : public Module {
 public:
  explicit ELU(double alpha = 1) : Module("ELU"), alpha_(alpha) {}
  Tensor forward(const Tensor& input) override;

 private:
  double alpha_;
};

// x, or alpha (exp(x / alpha) - 1) below 0
class CELU : public Module {
 public:
  explicit CELU(double alpha = 1) : Module("CELU"), alpha_(alpha) {}
  Tensor forward(const Tensor& input) override;

 private:
  double alpha_;
};

// x moved by lambd towards 0, which it does not pass
class Softshrink : public Module {
 public:
  explicit Softshrink(double lambd = 0.5) : Module("Softshrink"), lambd_(lambd) {}
  Tensor forward(const Tensor& input) override;

 private:
  double lambd_;
};

// x, but 0 within ±lambd
class Hardshrink : public Module {
 public:
  explicit Hardshrink(double lambd = 0.5) : Module("Hardshrink"), lambd_(lambd) {}
  Tensor forward(const Tensor& input) override;

 private:
  double lambd_;
};

// log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold
class Softplus : public Module {
 public:
  explicit Softplus(double beta = 1, double threshold = 20) : Module("Softplus"), beta_(beta), threshold_(threshold) {}
  Tensor forward(const Tensor& input) override;

 private:
  double beta_, threshold_;
};

// x kept within [min_val, max_val]
class Hardtanh : public Module {
 public:
  explicit Hardtanh(double min_val = -1, double max_val = 1)
      : Module("Hardtanh"), min_val_(min_val), max_val_(max_val) {}
  Tensor forward(const Tensor& input) override;

 private:
  double min_val_, max_val_;
};

// x where it is above the threshold, else value
class Threshold : public Module {
 public:
  Threshold(double threshold, double value) : Module("Threshold"), threshold_(threshold), value_(value) {}
  Tensor forward(const Tensor& input) override;

 private:
  double threshold_, value_;
};

// The first half along dim times the sigmoid of the second
class GLU : public Module {
 public:
  explicit GLU(int64_t dim = -1) : Module("GLU"), dim_(dim) {}
  Tensor forward(const Tensor& input) override;

 private:
  int64_t dim_;
};

class LogSoftmax : public Module {
 public:
  explicit LogSoftmax(int64_t dim) : Module("LogSoftmax"), dim_(dim) {}
  Tensor forward(const Tensor& input) override;

 private:
  int64_t dim_;
};

// softmax(-x)
class Softmin : public Module {
 public:
  explicit Softmin(int64_t dim) : Module("Softmin"), dim_(dim) {}
  Tensor forward(const Tensor& input) override;

 private:
  int64_t dim_;
};

// x, or weight x below 0, with one learned weight a channel, or one for all
class PReLU : public Module {
 public:
  explicit PReLU(int64_t num_parameters = 1, double init = 0.25);
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const { return parameter("weight"); }
};

// While training, elements are zeroed with probability p and the rest scaled by 1 / (1 - p).
class Dropout : public Module {
 public:
  explicit Dropout(double p = 0.5);
  Tensor forward(const Tensor& input) override;

 private:
  double p_;
};

// While training, whole channels of (N, C, H, W) are zeroed with probability p and the rest scaled by 1 / (1 - p).
class Dropout2d : public Module {
 public:
  explicit Dropout2d(double p = 0.5);
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
