"""What optimizers written in tensor operators share.

Numbers that change between steps reach the operators as host cells or as 0-d float64 tensors made of them, so a step is the
same in a recording, in compiled code and eagerly, and a new learning rate needs no new code. 16-bit parameters are updated
in float32 and rounded once; their state has their dtype, unless state_dtype says otherwise.
"""

from __future__ import annotations

import math

from .. import _C
from ..making import zeros_like
from .optimizer import Optimizer

_F = _C.functions


def wide(t):
    """The tensor in the dtype that it is computed in."""
    return t.to(_C.float32) if t.dtype.itemsize == 2 else t


def write(target, value):
    """target = value, rounded to target's dtype."""
    target.copy_(value)


def number(cell, like):
    """The cell's number as a 0-d float64 tensor on the device of `like`."""
    return _F.mul(_F.ones([], dtype=_C.float64, device=like.device), cell)


def power(base, exponent):
    """base ** exponent for a base in [0, 1) and a 0-d exponent of at least 1."""
    return (exponent * math.log(base)).exp() if base > 0 else exponent * 0


class TensorOptimizer(Optimizer):
    """update_one() makes one step of one parameter; numbers of the step alone are made once for all in prepare(). A subclass names
    the options that must lie in [0, 1] in `shares`."""

    shares = ()

    def __init__(self, params, defaults, *, state_dtype=None, differentiable=False):
        if differentiable:
            raise NotImplementedError(f"{type(self).__name__}: differentiable is not supported")
        self._state_dtype = state_dtype
        super().__init__(params, defaults)

    def check_options(self, options):
        super().check_options(options)
        for name in ("eps", "momentum", "lr_decay", "initial_accumulator_value", "lambd", "momentum_decay"):
            if options.get(name, 0) < 0:
                raise ValueError(f"{type(self).__name__}: {name} must not be negative, got {options[name]}")
        for name in self.shares:
            if not 0 <= options[name] <= 1:
                raise ValueError(f"{type(self).__name__}: {name} must lie in [0, 1], got {options[name]}")
        if any(not 0 <= b < 1 for b in options.get("betas", ())):
            raise ValueError(f"{type(self).__name__}: betas must lie in [0, 1), got {options['betas']}")

    def update(self, group, step, params, grads):
        prepared = self.prepare(group, step, params[0])
        for p, g in zip(params, grads):
            g = wide(-g if group.get("maximize") else g)
            self.update_one(group, p, self.decayed(group, p, g), prepared)

    def decayed(self, group, p, g):
        """The gradient with weight_decay p added."""
        return g + wide(p) * group["weight_decay"] if group["weight_decay"] else g

    def prepare(self, group, step, like):
        """What depends on the count of steps alone."""

    def update_one(self, group, p, g, prepared):
        """One step of a parameter p with gradient g; a subclass defines it."""
        raise NotImplementedError

    def state_of(self, p, name, make=None):
        """The state tensor `name` of a parameter; made as zeros where it is missing."""
        return self.slots(name, [p], make or (lambda q: zeros_like(q, dtype=self._state_dtype)))[0]
