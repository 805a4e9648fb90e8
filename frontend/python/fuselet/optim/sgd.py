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
    gradient are skipped. Without momentum there is no buffer. foreach and fused change nothing.
    ValueError for options out of range."""

    def __init__(self, params, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, *, maximize=False,
                 foreach=None, fused=None, differentiable=False):
        if differentiable:
            raise NotImplementedError("SGD: differentiable is not supported")
        if momentum < 0:
            raise ValueError(f"SGD: the momentum must not be negative, got {momentum}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("SGD: nesterov needs a momentum and no dampening")
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov, maximize=maximize))

    def _in_lockstep(self, group):
        if group["momentum"]:
            # The step cell tells the first step of a momentum: those that begin to have one count anew.
            for p in group["params"]:
                if p.grad is not None and p in self.state and "momentum_buffer" not in self.state[p]:
                    self.state[p].pop("step", None)
        return super()._in_lockstep(group)

    def load_state_dict(self, state_dict):
        """PyTorch's counts no steps: a parameter with a buffer has taken one at least."""
        state = {}
        for i, entries in state_dict["state"].items():
            entries = {k: v for k, v in entries.items() if v is not None}
            state[i] = {"step": 1.0, **entries} if "momentum_buffer" in entries else entries
        super().load_state_dict({**state_dict, "state": state})

    def update(self, group, step, params, grads):
        buffers = self.slots("momentum_buffer", params, zeros_like) if group["momentum"] else []
        _C.internal.sgd_step(params, grads, buffers, group.cells["lr"], step, group["momentum"], group["dampening"],
                             group["weight_decay"], group["nesterov"], group["maximize"])
