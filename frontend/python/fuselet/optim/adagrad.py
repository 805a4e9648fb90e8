"""Adagrad (Duchi et al. 2011)."""

from __future__ import annotations

from .. import _C
from ..making import full_like
from .tensor_steps import TensorOptimizer, number, wide, write

_F = _C.functions


class Adagrad(TensorOptimizer):
    """Step t with gradient g: s += g²; p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)."""

    def __init__(self, params, lr=1e-2, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0, eps=1e-10, foreach=None, *,
                 maximize=False, differentiable=False, fused=None, state_dtype=None):
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value, maximize=maximize),
                         state_dtype=state_dtype, differentiable=differentiable)

    def prepare(self, group, step, like):
        return number(group.cells["lr"], like) / (1 + (number(step, like) - 1) * group["lr_decay"])

    def update_one(self, group, p, g, prepared):
        first = group["initial_accumulator_value"]
        total = self.state_of(p, "sum", lambda q: full_like(q, first, dtype=self._state_dtype))
        s = wide(total) + g * g
        write(total, s)
        write(p, wide(p) - g / (s.sqrt() + group["eps"]) * prepared)
