// One step of an optimizer, parameter by parameter and element by element. Steps count from 1.
#include <cmath>

#include "backends/reference/reference.h"

namespace fuselet::reference {
namespace {

void append(std::vector<RefTensor>& outs, const std::vector<RefTensor>& list) {
  for (const RefTensor& t : list) {
    RefTensor copy = make(t.sizes, t.dtype);
    copy.values = t.values;
    outs.push_back(std::move(copy));
  }
}

}  // namespace

void sgd_step(RefCall& call) {
  const std::vector<RefTensor>&params = call.tensors(0), &grads = call.tensors(1), &buffers = call.tensors(2);
  double lr = call.scalar(3).to_double(), momentum = call.number(5), dampening = call.number(6), decay = call.number(7);
  bool first_step = call.scalar(4).to_double() == 1, nesterov = call.flag(8), maximize = call.flag(9);
  append(call.outs, params);
  append(call.outs, buffers);
  for (size_t k = 0; k < params.size(); ++k) {
    for (size_t i = 0; i < params[k].values.size(); ++i) {
      double p = params[k].values[i], g = maximize ? -grads[k].values[i] : grads[k].values[i];
      g += decay * p;
      if (!buffers.empty()) {
        double buffer = first_step ? g : momentum * buffers[k].values[i] + (1 - dampening) * g;
        call.outs[params.size() + k].values[i] = buffer;
        g = nesterov ? g + momentum * buffer : buffer;
      }
      call.outs[k].values[i] = p - lr * g;
    }
  }
}

void adam_step(RefCall& call) {
  const std::vector<RefTensor>&params = call.tensors(0), &grads = call.tensors(1), &firsts = call.tensors(2),
        &seconds = call.tensors(3);
  double lr = call.scalar(4).to_double(), step = call.scalar(5).to_double();
  double beta1 = call.scalar(6).to_double(), beta2 = call.scalar(7).to_double(), eps = call.number(8),
         decay = call.number(9);
  bool decoupled = call.flag(10), maximize = call.flag(11);
  size_t n = params.size();
  append(call.outs, params);
  append(call.outs, firsts);
  append(call.outs, seconds);
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < params[k].values.size(); ++i) {
      double p = params[k].values[i], g = maximize ? -grads[k].values[i] : grads[k].values[i];
      if (decoupled) {
        p -= lr * decay * p;
      } else {
        g += decay * p;
      }
      double m = beta1 * firsts[k].values[i] + (1 - beta1) * g, v = beta2 * seconds[k].values[i] + (1 - beta2) * g * g;
      double m_hat = m / (1 - std::pow(beta1, step)), v_hat = v / (1 - std::pow(beta2, step));
      call.outs[k].values[i] = p - lr * m_hat / (std::sqrt(v_hat) + eps);
      call.outs[n + k].values[i] = m;
      call.outs[2 * n + k].values[i] = v;
    }
  }
}

void clip_grad_norm(RefCall& call) {
  const std::vector<RefTensor>& grads = call.tensors(0);
  double max_norm = call.number(1), type = call.number(2), sum = 0, most = 0;
  for (const RefTensor& g : grads) {
    for (double v : g.values) {
      sum += type == 1 ? std::fabs(v) : v * v;
      most = std::fabs(v) > most || std::isnan(v) ? std::fabs(v) : most;
    }
  }
  double norm = std::isinf(type) ? most : type == 1 ? sum : std::sqrt(sum);
  append(call.outs, grads);
  for (RefTensor& g : call.outs) {
    for (double& v : g.values) v *= std::fmin(1, max_norm / (norm + 1e-6));
  }
  call.outs.push_back(make({}, DType::Float32, norm));
}

}  // namespace fuselet::reference
