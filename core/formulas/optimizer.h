// One element's update of each optimizer, shared by eager loops and generated kernels.
//
// V is a scalar or a vector of float or double. The numbers of a step are worked out in double and rounded once to the
// scalar type. Includes no standard header.
#pragma once

#include "core/formulas/arithmetic.h"

namespace fuselet::formula {

// Stochastic gradient descent with momentum (Sutskever et al. 2013, in the form without the factor of lr in the
// buffer).
template <class S>
struct SgdNumbers {
  S lr, momentum, undamped, weight_decay;  // undamped = 1 - dampening
  bool first, has_momentum, has_decay, nesterov, maximize;
};

// Changes p and, with momentum, buffer.
template <class V>
FUSELET_FN void sgd_update(const SgdNumbers<Scalar<V>>& s, V& p, V g, V& buffer) {
  if (s.maximize) g = -g;
  if (s.has_decay) g = g + p * s.weight_decay;
  if (s.has_momentum) {
    buffer = s.first ? g : buffer * s.momentum + g * s.undamped;
    g = s.nesterov ? g + buffer * s.momentum : buffer;
  }
  p = p - g * s.lr;
}

// Adam (Kingma and Ba 2015), or with `decoupled` AdamW (Loshchilov and Hutter 2019).
template <class S>
struct AdamNumbers {
  S beta1, one_minus_beta1, beta2, one_minus_beta2, eps;
  S step_size;   // lr / (1 - beta1^t)
  S root_scale;  // 1 / sqrt(1 - beta2^t)
  S decay;       // weight_decay, or with `decoupled` 1 - lr * weight_decay
  bool has_decay, decoupled, maximize;
};

// Zero for what lies below the normal numbers. A moment that is multiplied by less than 1 in each step, and gets no
// gradient any more, ends there for good, where each multiplication takes a hundred times as long.
template <class V>
FUSELET_FN V normal_or_zero(V x) {
  constexpr Scalar<V> kSmallestNormal = kIsFloat<V> ? Scalar<V>(0x1p-126) : Scalar<V>(0x1p-1022);
  return select(abs(x) < kSmallestNormal, V{}, x);
}

// Changes p and the moments m and v.
template <class V>
FUSELET_FN void adam_update(const AdamNumbers<Scalar<V>>& s, V& p, V g, V& m, V& v) {
  if (s.maximize) g = -g;
  if (s.has_decay) {
    if (s.decoupled)
      p = p * s.decay;
    else
      g = g + p * s.decay;
  }
  m = normal_or_zero(m * s.beta1 + g * s.one_minus_beta1);
  v = normal_or_zero(v * s.beta2 + g * g * s.one_minus_beta2);
  p = p - m * s.step_size / (sqrt(v) * s.root_scale + s.eps);
}

}  // namespace fuselet::formula
