"""Relatives of Adam: Adamax (Kingma and Ba 2015), NAdam (Dozat 2016), RAdam (Liu et al. 2020), Lion (Chen et al. 2023).

Each keeps m = beta1 m + (1 - beta1) g.
"""

from __future__ import annotations

import math

from .. import _C
from ..making import ones
from .tensor_steps import TensorOptimizer, number, power, wide, write

_F = _C.functions


class _MomentOptimizer(TensorOptimizer):
    def first_moment(self, group, p, g):
        """Takes g into the running mean of gradients, and returns that."""
        mean, beta = self.state_of(p, "exp_avg"), group["betas"][0]
        m = wide(mean) * beta + g * (1 - beta)
        write(mean, m)
        return m

    def second_moment(self, group, p, g):
        """Takes g² into the running mean of squares, and returns that."""
        square, beta = self.state_of(p, "exp_avg_sq"), group["betas"][1]
        v = wide(square) * beta + g * g * (1 - beta)
        write(square, v)
        return v

    def decayed(self, group, p, g):
        """With decoupled decay p has shrunk instead."""
        if not group.get("decoupled_weight_decay"):
            return super().decayed(group, p, g)
        write(p, wide(p) - _F.mul(wide(p) * group["weight_decay"], group.cells["lr"]))
        return g


class Adamax(_MomentOptimizer):
    """Step t with gradient g: u = max(beta2 u, |g| + eps); p -= lr m / ((1 - beta1^t) u)."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False, state_dtype=None):
        super().__init__(params, dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay, maximize=maximize),
                         state_dtype=state_dtype, differentiable=differentiable)

    def prepare(self, group, step, like):
        return number(group.cells["lr"], like) / (1 - power(group["betas"][0], number(step, like)))

    def update_one(self, group, p, g, prepared):
        m, largest = self.first_moment(group, p, g), self.state_of(p, "exp_inf")
        u = _F.maximum(wide(largest) * group["betas"][1], g.abs() + group["eps"])
        write(largest, u)
        write(p, wide(p) - m / u * prepared)


class NAdam(_MomentOptimizer):
    """Step t with gradient g, mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2), and M the product of mu_1 … mu_t:

        p -= lr ((1 - mu_t) g / (1 - M) + mu_{t+1} m / (1 - M mu_{t+1})) / (sqrt(v / (1 - beta2^t)) + eps)
    """

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False,
                 state_dtype=None):
        super().__init__(params, dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay,
                                      decoupled_weight_decay=decoupled_weight_decay, maximize=maximize),
                         state_dtype=state_dtype, differentiable=differentiable)

    def prepare(self, group, step, like):
        t, decay = number(step, like), group["momentum_decay"]
        mu, following = (group["betas"][0] * (1 - 0.5 * power(0.96, at * decay)) for at in (t, t + 1))
        return number(group.cells["lr"], like), mu, following, 1 - power(group["betas"][1], t)

    def update_one(self, group, p, g, prepared):
        lr, mu, following, correction = prepared
        product = self.state_of(p, "mu_product", lambda q: ones([], dtype=_C.float64, device=q.device))
        product.copy_(product * mu)
        m, v = self.first_moment(group, p, g), self.second_moment(group, p, g)
        d = (v / correction).sqrt() + group["eps"]
        by_gradient, by_mean = lr * (1 - mu) / (1 - product), lr * following / (1 - product * following)
        write(p, wide(p) - (g * by_gradient + m * by_mean) / d)


class RAdam(_MomentOptimizer):
    """Step t with gradient g: with R = 2 / (1 - beta2) - 1 and r = R - 2 t beta2^t / (1 - beta2^t),

        p -= lr m / (1 - beta1^t)                                                                    while r <= 5, then
        p -= lr m / (1 - beta1^t) sqrt(1 - beta2^t) / (sqrt(v) + eps) sqrt((r - 4)(r - 2) R / ((R - 4)(R - 2) r))
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False, state_dtype=None):
        super().__init__(params, dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay,
                                      decoupled_weight_decay=decoupled_weight_decay, maximize=maximize),
                         state_dtype=state_dtype, differentiable=differentiable)

    def prepare(self, group, step, like):
        (beta1, beta2), t = group["betas"], number(step, like)
        beta2_t = power(beta2, t)
        whole = 2 / (1 - beta2) - 1
        r = whole - 2 * t * beta2_t / (1 - beta2_t)
        known = r > 5
        safe = _F.where(known, r, 6.0)
        rectified = ((safe - 4) * (safe - 2) * whole / ((whole - 4) * (whole - 2) * safe)).sqrt() * (1 - beta2_t).sqrt()
        return number(group.cells["lr"], like) / (1 - power(beta1, t)), known, rectified

    def update_one(self, group, p, g, prepared):
        rate, known, rectified = prepared
        m, v = self.first_moment(group, p, g), self.second_moment(group, p, g)
        factor = _F.where(known, rectified / (v.sqrt() + group["eps"]), 1.0)
        write(p, wide(p) - m * rate * factor.to(m.dtype))


class Lion(_MomentOptimizer):
    """A step with gradient g: p -= lr (sign(beta1 m + (1 - beta1) g) + weight_decay p), then m = beta2 m + (1 - beta2) g."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False, state_dtype=None):
        super().__init__(params, dict(lr=lr, betas=tuple(betas), weight_decay=weight_decay, decoupled_weight_decay=True,
                                      maximize=maximize), state_dtype=state_dtype, differentiable=differentiable)

    def update_one(self, group, p, g, prepared):
        (beta1, beta2), mean = group["betas"], self.state_of(p, "exp_avg")
        m = wide(mean)
        write(p, wide(p) - _F.mul(_F.sign(m * beta1 + g * (1 - beta1)), group.cells["lr"]))
        write(mean, m * beta2 + g * (1 - beta2))
