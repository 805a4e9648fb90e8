"""Averaged stochastic gradient descent (Polyak and Juditsky 1992)."""

from __future__ import annotations

from .. import _C
from .tensor_steps import TensorOptimizer, number, wide, write

_F = _C.functions


class ASGD(TensorOptimizer):
    """Step t with gradient g, e = lr / (1 + lambd lr (t - 1))^alpha and m = 1 / max(1, t - 1 - t0):

        p = (1 - lambd e) p - e g
        a += m (p - a)              the average, state["ax"] of the parameter, which is p itself until t0 steps are done"""

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0, foreach=None, maximize=False, differentiable=False,
                 capturable=False, *, state_dtype=None):
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, maximize=maximize),
                         state_dtype=state_dtype, differentiable=differentiable)

    def prepare(self, group, step, like):
        before, rate = number(step, like) - 1, number(group.cells["lr"], like)
        return rate / (before * rate * group["lambd"] + 1).pow(group["alpha"]), (before - group["t0"]).clamp(min=1.0).reciprocal()

    def update_one(self, group, p, g, prepared):
        size, mixing = prepared
        average = self.state_of(p, "ax")
        moved = wide(p) - wide(p) * (size * group["lambd"]) - g * size
        write(p, moved)
        write(average, wide(average) + (moved - wide(average)) * mixing)
