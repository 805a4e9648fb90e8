"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from .. import _C
from ..making import zeros_like
from .optimizer import Optimizer


class SGD(Optimizer):
    """p -= lr (g + weight_decay p), with momentum over a buffer of gradients; nesterov looks ahead."""

    def __init__(self, params, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, *, maximize=False):
        if momentum < 0:
            raise ValueError(f"SGD: the momentum must not be negative, got {momentum}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("SGD: nesterov needs a momentum and no dampening")
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov, maximize=maximize))

    def update(self, group, step, params, grads):
        buffers = self.slots("momentum_buffer", params, zeros_like) if group["momentum"] else []
        _C.internal.sgd_step(params, grads, buffers, group.cells["lr"], step, group["momentum"], group["dampening"],
                             group["weight_decay"], group["nesterov"], group["maximize"])
