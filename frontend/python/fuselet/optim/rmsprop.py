"""RMSprop (Hinton 2012)."""

from __future__ import annotations

from .. import _C
from .tensor_steps import TensorOptimizer, wide, write

_F = _C.functions


class RMSprop(TensorOptimizer):
    """A step with gradient g:

        v = alpha v + (1 - alpha) g²;  centered: a = alpha a + (1 - alpha) g, d = sqrt(v - a²) + eps, else d = sqrt(v) + eps
        p -= lr g / d                  with momentum: b = momentum b + g / d, p -= lr b
    """

    shares = ("alpha",)

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False, capturable=False,
                 foreach=None, maximize=False, differentiable=False, *, state_dtype=None):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum,
                                      centered=centered, maximize=maximize), state_dtype=state_dtype, differentiable=differentiable)

    def update_one(self, group, p, g, prepared):
        alpha, square = group["alpha"], self.state_of(p, "square_avg")
        v = wide(square) * alpha + g * g * (1 - alpha)
        write(square, v)
        if group["centered"]:
            mean = self.state_of(p, "grad_avg")
            a = wide(mean) * alpha + g * (1 - alpha)
            write(mean, a)
            v = v - a * a
        d = g / (v.sqrt() + group["eps"])
        if group["momentum"]:
            buffer = self.state_of(p, "momentum_buffer")
            d = wide(buffer) * group["momentum"] + d
            write(buffer, d)
        write(p, wide(p) - _F.mul(d, group.cells["lr"]))
