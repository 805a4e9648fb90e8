"""Adadelta (Zeiler 2012)."""

from __future__ import annotations

from .. import _C
from .tensor_steps import TensorOptimizer, wide, write

_F = _C.functions


class Adadelta(TensorOptimizer):
    """A step with gradient g: v = rho v + (1 - rho) g²; d = g sqrt(u + eps) / sqrt(v + eps); u = rho u + (1 - rho) d²;
    p -= lr d."""

    shares = ("rho",)

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0, foreach=None, *, capturable=False, maximize=False,
                 differentiable=False, state_dtype=None):
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize),
                         state_dtype=state_dtype, differentiable=differentiable)

    def update_one(self, group, p, g, prepared):
        rho, eps = group["rho"], group["eps"]
        square, moved = self.state_of(p, "square_avg"), self.state_of(p, "acc_delta")
        v = wide(square) * rho + g * g * (1 - rho)
        d = g * ((wide(moved) + eps).sqrt() / (v + eps).sqrt())
        write(square, v)
        write(moved, wide(moved) * rho + d * d * (1 - rho))
        write(p, wide(p) - _F.mul(d, group.cells["lr"]))
