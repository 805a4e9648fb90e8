"""Rprop (Riedmiller and Braun 1993)."""

from __future__ import annotations

from .. import _C
from ..making import full_like
from .tensor_steps import TensorOptimizer, wide, write

_F = _C.functions


class Rprop(TensorOptimizer):
    """Each element has a step size of its own: times etas[1] where the gradient keeps its sign, times etas[0] where it changes
    (then that gradient counts as 0), within step_sizes; p -= sign(g) step size. lr is the first step size."""

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False,
                 differentiable=False, state_dtype=None):
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Rprop: etas must be below and above 1, got {etas}")
        super().__init__(params, dict(lr=lr, etas=tuple(etas), step_sizes=tuple(step_sizes), weight_decay=0.0, maximize=maximize),
                         state_dtype=state_dtype, differentiable=differentiable)

    def update_one(self, group, p, g, prepared):
        first = group["lr"]
        before, size = self.state_of(p, "prev"), self.state_of(p, "step_size", lambda q: full_like(q, first, dtype=self._state_dtype))
        agreement = g * wide(before)
        factor = _F.where(agreement > 0, group["etas"][1], _F.where(agreement < 0, group["etas"][0], _F.ones_like(g)))
        step = (wide(size) * factor).clamp(*group["step_sizes"])
        g = _F.where(agreement < 0, 0.0, g)
        write(size, step)
        write(before, g)
        write(p, wide(p) - _F.sign(g) * step)
