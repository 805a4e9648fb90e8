#include "autograd/gradcheck.h"

#include <cmath>

#include "autograd/engine.h"
#include "core/dispatch_state.h"
#include "core/element.h"
#include "core/ops/functions.h"

namespace fuselet {
namespace {

// A fixed direction for each output, so that one number stands for all of them: L = sum(w * f(x)).
std::vector<Tensor> directions(const std::vector<Tensor>& outputs, int salt) {
  std::vector<Tensor> out;
  uint64_t s = 0x9e3779b97f4a7c15ull * static_cast<uint64_t>(salt + 1);
  for (const Tensor& t : outputs) {
    Tensor w = zeros(t.sizes(), DType::Float64, Device{});
    for (int64_t i = 0; i < w.numel(); ++i) {
      s = s * 6364136223846793005ull + 1442695040888963407ull;
      w.data<double>()[i] = 0.5 + static_cast<double>(s >> 40) / (1 << 24);
    }
    out.push_back(w.to(t.device()));
  }
  return out;
}

std::vector<Tensor> floating_outputs(const TensorFunction& f, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> out;
  for (Tensor& t : f(inputs)) {
    if (is_float(t.dtype())) out.push_back(t);
  }
  return out;
}

double weighted_sum(const std::vector<Tensor>& outputs, const std::vector<Tensor>& weights) {
  double total = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<double> y = outputs[i].to_vector(), w = weights[i].to_vector();
    for (size_t k = 0; k < y.size(); ++k) total += y[k] * w[k];
  }
  return total;
}

std::vector<Tensor> differentiable(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> out;
  for (const Tensor& t : inputs) {
    if (t.requires_grad()) out.push_back(t);
  }
  return out;
}

}  // namespace

void gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs, GradcheckOptions options) {
  std::vector<Tensor> checked = differentiable(inputs);
  for (const Tensor& t : checked)
    FUSELET_CHECK(t.dtype() == DType::Float64, "gradcheck: inputs must be float64, got ", name_of(t.dtype()));
  std::vector<Tensor> outputs = floating_outputs(f, inputs);
  std::vector<Tensor> weights = directions(outputs, 0);
  std::vector<Tensor> connected, connected_weights;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    connected.push_back(outputs[i]);
    connected_weights.push_back(weights[i]);
  }
  FUSELET_CHECK(!connected.empty(), "gradcheck: no output depends on an input that requires grad");
  std::vector<Tensor> analytic = grad(connected, checked, connected_weights, {}, true);
  for (size_t k = 0; k < checked.size(); ++k) {
    std::vector<double> a =
        analytic[k].defined() ? analytic[k].to_vector() : std::vector<double>(static_cast<size_t>(checked[k].numel()));
    size_t element = 0;
    for_each_offset(checked[k].sizes(), checked[k].strides(), [&](int64_t offset) {
      NoGradGuard no_grad;
      double* x = checked[k].data<double>() + offset;
      double saved = *x;
      *x = saved + options.step;
      double above = weighted_sum(floating_outputs(f, inputs), weights);
      *x = saved - options.step;
      double below = weighted_sum(floating_outputs(f, inputs), weights);
      *x = saved;
      double numeric = (above - below) / (2 * options.step), got = a[element];
      FUSELET_CHECK(std::abs(got - numeric) <= options.atol + options.rtol * std::abs(numeric), "gradcheck: input ", k,
                    ", element ", element, " at ", saved, ": backward gives ", got, ", differences give ", numeric);
      ++element;
    });
  }
}

void gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs, GradcheckOptions options) {
  std::vector<Tensor> outputs = floating_outputs(f, inputs);
  std::vector<Tensor> all = inputs;
  size_t first_gradient = inputs.size();
  for (Tensor& w : directions(outputs, 1)) all.push_back(w.requires_grad_());
  TensorFunction gradients = [&](const std::vector<Tensor>& x) {
    GradModeGuard on(true);
    std::vector<Tensor> inner(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(first_gradient));
    std::vector<Tensor> y = floating_outputs(f, inner), connected, weights;
    for (size_t i = 0; i < y.size(); ++i) {
      if (!y[i].requires_grad()) continue;
      connected.push_back(y[i]);
      weights.push_back(x[first_gradient + i]);
    }
    std::vector<Tensor> g = grad(connected, differentiable(inner), weights, {true, true}, true);
    std::erase_if(g, [](const Tensor& t) { return !t.defined(); });
    return g;
  };
  bool any = false;
  for (const Tensor& t : gradients(all)) any = any || t.requires_grad();
  if (any) gradcheck(gradients, all, options);
}

}  // namespace fuselet
