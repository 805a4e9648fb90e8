"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from .. import _C
from ..making import zeros_like
from .optimizer import Optimizer


class SGD(Optimizer):
    """A step with gradient g (momentum: Polyak 1964, its Nesterov form: Sutskever et al. 2013):

        g += weight_decay p
        b = momentum b + (1 - dampening) g        the first step: b = g
        p -= lr b                                 with nesterov: p -= lr (g + momentum b)

    params: floating leaves, or dicts {"params": […], option: value} with options of their own; those without
    gradient are skipped. Without momentum there is no buffer. ValueError for options out of range."""

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
