// The steps of optimizers, one chain of pointwise operators a parameter, in the operations and the order of
// core/formulas/optimizer.h. Numbers that are the same for all elements are 0-d float64 tensors, rounded once to the
// type that a parameter is computed in.
#include <cmath>
#include <limits>

#include "core/ops/decompositions.h"
#include "core/ops/functions.h"

namespace fuselet::decompose {
namespace {

DType compute_dtype(DType t) { return t == DType::Float64 ? DType::Float64 : DType::Float32; }
Tensor as_dtype(const Tensor& t, DType to) { return t.dtype() == to ? t : t.cast(to); }
Tensor number(const Scalar& s, Device device) { return full({}, s, DType::Float64, device); }

using List = std::vector<Tensor>;

List list_of(TensorList tensors) { return List(tensors.view().begin(), tensors.view().end()); }

List joined(std::initializer_list<List> lists) {
  List all;
  for (const List& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace

std::vector<Tensor> sgd_step(TensorList params, TensorList grads, TensorList momentum_buffers, const Scalar& lr,
                             const Scalar& step, double momentum, double dampening, double weight_decay, bool nesterov,
                             bool maximize) {
  List p_out, buffers = list_of(momentum_buffers);
  FUSELET_CHECK(momentum == 0 || buffers.size() == params.view().size(),
                "sgd_step: momentum needs a buffer for each parameter");
  for (size_t i = 0; i < params.view().size(); ++i) {
    const Tensor& param = params.view()[i];
    DType compute = compute_dtype(param.dtype());
    Tensor p = as_dtype(param, compute), g = as_dtype(grads.view()[i], compute);
    if (maximize) g = -g;
    if (weight_decay != 0) g = g + p * weight_decay;
    if (momentum != 0) {
      Tensor later = as_dtype(buffers[i], compute) * momentum + g * (1 - dampening);
      // The first step starts the buffer. A step that is a cell is known only when the graph runs.
      Tensor b = step.cell() ? where(number(step, param.device()) <= 1, g, later) : step.to_double() <= 1 ? g : later;
      buffers[i] = as_dtype(b, buffers[i].dtype());
      g = nesterov ? g + b * momentum : b;
    }
    p_out.push_back(as_dtype(p - g * lr, param.dtype()));
  }
  return joined({p_out, buffers});
}

namespace {

Tensor normal_or_zero(const Tensor& x) {
  const double smallest = x.dtype() == DType::Float64 ? std::numeric_limits<double>::min()
                                                      : static_cast<double>(std::numeric_limits<float>::min());
  return where(abs(x) < smallest, 0, x);
}

// What adam_step multiplies by, in the type of a parameter.
struct AdamNumbers {
  Tensor one_minus_beta1, one_minus_beta2, step_size, root_scale, kept_by_decay;

  AdamNumbers in(DType compute) const {
    return {as_dtype(one_minus_beta1, compute), as_dtype(one_minus_beta2, compute), as_dtype(step_size, compute),
            as_dtype(root_scale, compute), as_dtype(kept_by_decay, compute)};
  }
};

AdamNumbers adam_numbers(Device device, const Scalar& lr, const Scalar& step, const Scalar& beta1, const Scalar& beta2,
                         double weight_decay) {
  Tensor rate = number(lr, device), t = number(step, device), b1 = number(beta1, device), b2 = number(beta2, device);
  return {1 - b1, 1 - b2, rate / (1 - pow(b1, t)), 1 / sqrt(1 - pow(b2, t)), 1 - rate * weight_decay};
}

}  // namespace

std::vector<Tensor> adam_step(TensorList params, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                              const Scalar& lr, const Scalar& step, const Scalar& beta1, const Scalar& beta2,
                              double eps, double weight_decay, bool decoupled, bool maximize) {
  if (params.view().empty()) return {};
  AdamNumbers exact = adam_numbers(params.view()[0].device(), lr, step, beta1, beta2, weight_decay);
  AdamNumbers single = exact.in(DType::Float32);
  List p_out, m_out, v_out;
  for (size_t i = 0; i < params.view().size(); ++i) {
    const Tensor &param = params.view()[i], &first = exp_avgs.view()[i], &second = exp_avg_sqs.view()[i];
    DType compute = compute_dtype(param.dtype());
    const AdamNumbers& n = compute == DType::Float64 ? exact : single;
    Tensor p = as_dtype(param, compute), g = as_dtype(grads.view()[i], compute);
    Tensor m = as_dtype(first, compute), v = as_dtype(second, compute);
    if (maximize) g = -g;
    if (weight_decay != 0) {
      if (decoupled) {
        p = p * n.kept_by_decay;
      } else {
        g = g + p * weight_decay;
      }
    }
    m = normal_or_zero(m * beta1 + g * n.one_minus_beta1);
    v = normal_or_zero(v * beta2 + g * g * n.one_minus_beta2);
    p = p - m * n.step_size / (sqrt(v) * n.root_scale + eps);
    p_out.push_back(as_dtype(p, param.dtype()));
    m_out.push_back(as_dtype(m, first.dtype()));
    v_out.push_back(as_dtype(v, second.dtype()));
  }
  return joined({p_out, m_out, v_out});
}

std::vector<Tensor> clip_grad_norm(TensorList grads, double max_norm, double norm_type) {
  Tensor norm;
  for (const Tensor& g : grads.view()) {
    if (g.impl()->numel() == 0) continue;
    Tensor x = as_dtype(g, DType::Float64);
    Tensor part = norm_type > 2 ? x.abs().amax() : norm_type == 2 ? x.square().sum() : x.abs().sum();
    norm = !norm.defined() ? part : norm_type > 2 ? maximum(norm, part) : norm + part;
  }
  if (!norm.defined()) norm = number(0.0, grads.view().empty() ? Device{} : grads.view()[0].device());
  if (norm_type == 2) norm = sqrt(norm);
  Tensor ratio = max_norm / (norm + 1e-6);
  Tensor scale = where(ratio >= 1, 1.0, ratio);  // NaN goes on
  List out;
  for (const Tensor& g : grads.view()) {
    DType compute = compute_dtype(g.dtype());
    out.push_back(as_dtype(as_dtype(g, compute) * as_dtype(scale, compute), g.dtype()));
  }
  out.push_back(norm.cast(DType::Float32));
  return out;
}

}  // namespace fuselet::decompose
